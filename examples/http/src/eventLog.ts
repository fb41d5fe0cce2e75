import type { AgentEvent, ApprovalRequest } from "@agent/core";

/** What a client sees: the agent's events, questions for the person, and how a message failed. */
export type ClientEvent =
  | AgentEvent
  | ({ readonly type: "approval" } & Pick<ApprovalRequest, "id" | "name" | "args">)
  | { readonly type: "error"; readonly code: string; readonly message: string };

/** Receives the events of a message, then its end. */
export interface Follower {
  event(id: number, event: ClientEvent): void;
  end(): void;
}

/** The events of the newest message, numbered, so that a client that lost its connection can catch up. */
export class EventLog {
  #events: ClientEvent[] = [];
  /** The number of the first event that is kept. */
  #firstId = 1;
  #isOpen = false;
  readonly #followers = new Set<Follower>();

  /** Starts a message: the events of the one before are forgotten. Numbers go on. */
  open(): void {
    this.#firstId += this.#events.length;
    this.#events = [];
    this.#isOpen = true;
  }

  append(event: ClientEvent): void {
    this.#events.push(event);
    const id = this.#firstId + this.#events.length - 1;
    for (const follower of this.#followers) follower.event(id, event);
  }

  close(): void {
    this.#isOpen = false;
    for (const follower of this.#followers) follower.end();
    this.#followers.clear();
  }

  /** Hands over everything after the event with this number, now and as it comes, until the returned function is called. */
  follow(afterId: number, follower: Follower): () => void {
    for (const [index, event] of this.#events.entries()) {
      const id = this.#firstId + index;
      if (id > afterId) follower.event(id, event);
    }
    if (this.#isOpen) this.#followers.add(follower);
    else follower.end();
    return () => this.#followers.delete(follower);
  }
}
