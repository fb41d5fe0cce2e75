import type { AgentEvent, ChildEvent } from "@agent/core";
import { countOf } from "@agent/internal";
import { shortCount } from "../text/amounts.js";

const MOST_EVENTS = 100;

/** What background agents do. None of the conversation's calls is theirs, so each is drawn as a call when it has answered. */
export class BackgroundBlocks {
  readonly #calls = new Map<string, { readonly events: ChildEvent[]; count: number }>();
  #ended: AgentEvent[] = [];

  see(event: ChildEvent): void {
    const calls = this.#calls.get(event.id) ?? { events: [], count: 0 };
    this.#calls.set(event.id, calls);
    const { id, event: inner, label: name = "agent", elapsedMs: durationMs = 0 } = event;
    if (inner.type === "tool_end") calls.count++;
    if (inner.type === "tool_requested" || inner.type === "tool_end") {
      calls.events.push(event);
      if (calls.events.length > MOST_EVENTS) calls.events.shift();
    }
    if (inner.type !== "done") return;
    this.#calls.delete(id);
    const { text, usage } = inner;
    const tokens = usage.inputTokens + usage.outputTokens;
    const summary = `${countOf(calls.count, "call")}, ${shortCount(tokens)} tokens`;
    this.#ended.push(
      { type: "tool_requested", id, name, args: {}, title: "in the background" },
      ...calls.events,
      {
        ...{ type: "tool_end", id, name, outcome: "ok", text, durationMs, summary },
        view: { type: "markdown", text },
      },
    );
  }

  /** Takes the events that draw the agents which have answered since. */
  takeEnded(): readonly AgentEvent[] {
    return this.#ended.splice(0);
  }
}
