import type { AgentEvent } from "@agent/core";
import type { FollowedEvent, RunEvent } from "../engine/events.js";

// A run that continues in another worker reports these again for every replayed step.
const REPORTED_AGAIN: ReadonlySet<RunEvent["type"]> = new Set([
  "tool_requested",
  "tool_end",
  "usage",
  "context",
  "steered",
  "done",
]);

/**
 * Collects the events of a claim for the next write. Events that an earlier claim has logged are skipped when replayed
 * steps report them again; an event that was lost with its worker is logged now.
 */
export class EventLog {
  readonly #logged: Map<string, number>;
  #waiting: RunEvent[] = [];

  constructor(logged: ReadonlyMap<string, number>) {
    this.#logged = new Map(logged);
  }

  /** How many events wait to be written. */
  get size(): number {
    return this.#waiting.length;
  }

  add(event: RunEvent): void {
    if (isDraft(event) || this.#isLogged(event)) return;
    const last = this.#waiting.at(-1);
    const joined = last && join(last, event);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(event);
  }

  /** Takes the waiting events. */
  take(): readonly RunEvent[] {
    const events = this.#waiting;
    this.#waiting = [];
    return events;
  }

  #isLogged(event: RunEvent): boolean {
    const name = nameOf(event);
    const count = name === undefined ? 0 : (this.#logged.get(name) ?? 0);
    if (name === undefined || count === 0) return false;
    this.#logged.set(name, count - 1);
    return true;
  }
}

/** How often each event that a replay repeats is in the log. */
export async function countLogged(events: AsyncIterable<FollowedEvent>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const entry of events) {
    const name = "event" in entry ? nameOf(entry.event) : undefined;
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** A key that is equal for an event and its replay. Later turns may reuse ids, in the same order in both. */
function nameOf(event: RunEvent): string | undefined {
  if (event.type === "child") {
    const inner = nameOf(event.event);
    return inner === undefined ? undefined : `${event.id}/${event.child}/${inner}`;
  }
  if (!REPORTED_AGAIN.has(event.type)) return undefined;
  // The id of a message is new each time it is delivered.
  if (event.type === "steered") return event.type;
  return "id" in event ? `${event.type}/${event.id}` : event.type;
}

/** Whether this is a piece of a call that the model is writing. Not logged: `tool_requested` has the whole call. */
function isDraft(event: RunEvent): boolean {
  return event.type === "tool_draft" || (event.type === "child" && isDraft(event.event));
}

/** Joins two pieces of one text. */
function join(first: RunEvent, second: RunEvent): AgentEvent | undefined {
  if (first.type === "text" && second.type === "text" && second.whole === undefined) {
    const whole = first.whole === undefined ? undefined : first.whole + second.text;
    return { type: "text", text: first.text + second.text, ...(whole !== undefined && { whole }) };
  }
  if (first.type === "reasoning" && second.type === "reasoning") {
    return { type: "reasoning", text: first.text + second.text };
  }
  if (first.type === "tool_output" && second.type === "tool_output" && first.id === second.id) {
    return { ...first, chunk: first.chunk + second.chunk };
  }
  return undefined;
}
