import type { AgentEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { outcomeWords } from "../display/resultBody.js";

const MOST_FINISHED = 100;

export interface LoggedCall {
  /** The call's number in this session, from 1. */
  readonly number: number;
  readonly name: string;
  readonly title: string;
  readonly startedAt: number;
  readonly pid?: number;
}

export interface FinishedLoggedCall extends LoggedCall {
  readonly durationMs: number;
  readonly ok: boolean;
  readonly words: string;
}

/** The session's calls for `/status`: the running ones, and the last finished ones. */
export class CallLog {
  readonly #running = new Map<string, LoggedCall>();
  #finished: FinishedLoggedCall[] = [];
  #count = 0;

  event(event: AgentEvent): void {
    if (event.type === "tool_start") {
      const { id, name, about } = event;
      const title = escapeToLine(about?.title ?? "");
      this.#running.set(id, { number: ++this.#count, name, title, startedAt: Date.now() });
    }
    if (event.type !== "tool_process" && event.type !== "tool_end") return;
    const call = this.#running.get(event.id);
    if (!call) return;
    if (event.type === "tool_process") {
      this.#running.set(event.id, { ...call, pid: event.pid });
      return;
    }
    this.#running.delete(event.id);
    const { durationMs, outcome } = event;
    this.#finished.push({ ...call, durationMs, ok: outcome === "ok", words: outcomeWords(event) });
    if (this.#finished.length > MOST_FINISHED) this.#finished.shift();
  }

  /** Ends the turn: calls without a result no longer count as running. */
  endTurn(): void {
    this.#running.clear();
  }

  get running(): readonly LoggedCall[] {
    return [...this.#running.values()];
  }

  /** The calls that have ended, in the order in which they started. */
  get finished(): readonly FinishedLoggedCall[] {
    return this.#finished.toSorted((a, b) => a.number - b.number);
  }
}
