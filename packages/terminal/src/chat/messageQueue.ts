import type { Content } from "@agent/core";

/** A message of the user: its full text, and the line as it was typed. */
export interface Message {
  readonly text: string;
  readonly shown: string;
  /** The content that a slash command made in place of `text`. The command itself was echoed. */
  readonly made?: Content;
  /** Who the message is from, if the user did not write it. */
  readonly from?: string;
  /** The notes for the model that were sent with it. */
  readonly notes?: readonly string[];
}

/** The messages that wait: those given to `steer`, then those for turns of their own. */
export class MessageQueue {
  #steering: Message[] = [];
  #waiting: Message[] = [];

  /** The waiting messages as they were typed, in the order of delivery. */
  get shown(): readonly string[] {
    return [...this.#steering, ...this.#waiting].map(({ shown }) => shown);
  }

  add(...messages: readonly Message[]): void {
    this.#waiting.push(...messages);
  }

  addSteering(message: Message): void {
    this.#steering.push(message);
  }

  /** Takes the message for the next turn. */
  next(): Message | undefined {
    return this.#waiting.shift();
  }

  /** Takes the steering message that the agent has just delivered. */
  delivered(): Message | undefined {
    return this.#steering.shift();
  }

  /** Takes the steering messages that were not delivered. */
  takeSteering(): readonly Message[] {
    return this.#steering.splice(0);
  }

  /** Takes the messages for later turns. */
  takeWaiting(): readonly Message[] {
    return this.#waiting.splice(0);
  }

  /** Puts undelivered messages in front of the others. */
  putFirst(messages: readonly Message[]): void {
    this.#waiting.unshift(...messages);
  }
}
