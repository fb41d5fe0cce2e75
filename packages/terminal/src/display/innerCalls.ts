import type { AgentEvent, ChildEvent, FileDiff, ToolEndEvent } from "@agent/core";
import { isRead } from "./resultBody.js";

const MOST_KEPT = 100;
const LONGEST_TEXT = 2000;

/** A finished call that another call made. */
export interface InnerCall {
  /** Whether a child agent made it, and not the call itself. */
  readonly isOfAgent: boolean;
  readonly title: string;
  readonly event: ToolEndEvent;
  /** Whether it only read something. */
  readonly isRead: boolean;
  /** The changes shown in the question about it. */
  readonly previewed?: readonly FileDiff[];
}

/** The finished calls that one call made: those of a script, or those of child agents. Bounded: there may be thousands. */
export class InnerCalls {
  readonly #kept: InnerCall[] = [];
  #count = 0;

  add({ event, ...call }: Omit<InnerCall, "isRead">): void {
    this.#count++;
    const onlyRead = isRead(event);
    this.#kept.push({ ...call, event: shortened(event, onlyRead), isRead: onlyRead });
    if (this.#kept.length <= MOST_KEPT) return;
    // What was changed matters more than what was read.
    const read = this.#kept.findIndex((one) => one.isRead);
    this.#kept.splice(Math.max(0, read), 1);
  }

  /** Those that are kept, in the order in which they ended. */
  get all(): readonly InnerCall[] {
    return this.#kept;
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  /** Whether child agents made some of them. */
  get hasAgents(): boolean {
    return this.#kept.some(({ isOfAgent }) => isOfAgent);
  }

  /** The size of what is kept, in characters. */
  get units(): number {
    return JSON.stringify(this.#kept).length;
  }
}

/** Without what takes memory and is not drawn: what a call has read, and what only the model needs. */
function shortened(
  { parts: _, value: _value, view, text, ...event }: ToolEndEvent,
  onlyRead: boolean,
): ToolEndEvent {
  if (onlyRead) return { ...event, text: "" };
  return { ...event, text: text.slice(0, LONGEST_TEXT).toWellFormed(), ...(view && { view }) };
}

/** Follows the calls of child agents: a call that was refused is named only by its first event. */
export class ChildCalls {
  readonly #titles = new Map<string, string>();

  /** The call that ends with this event, with the label of its agent; `undefined` if none does. */
  ended(
    event: ChildEvent,
  ):
    | { readonly agent: string | undefined; readonly title: string; readonly event: ToolEndEvent }
    | undefined {
    let agent: string | undefined;
    let path = "";
    let inner: AgentEvent = event;
    for (; inner.type === "child"; inner = inner.event) {
      agent = inner.label ?? agent;
      path += `${inner.id}/${inner.child}/`;
    }
    const title =
      inner.type === "tool_requested" ? inner.title : "about" in inner ? inner.about?.title : undefined;
    if (title !== undefined && "id" in inner) this.#titles.set(`${path}${inner.id}`, title);
    if (inner.type !== "tool_end") return undefined;
    const key = `${path}${inner.id}`;
    const known = this.#titles.get(key) ?? "";
    this.#titles.delete(key);
    return { agent, title: known, event: inner };
  }
}
