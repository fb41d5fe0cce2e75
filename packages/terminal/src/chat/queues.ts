import type { Content, WakeNotice } from "@agent/core";

/** A message of the user: its full text, and the line as it was typed. */
export interface Message {
  readonly text: string;
  readonly shown: string;
  /** The content that a slash command created instead of `text`. The command itself was echoed. */
  readonly made?: Content;
  /** The sender of the message, if the user did not write it. */
  readonly from?: string;
  /** The notes for the model that were sent with it. */
  readonly notes?: readonly string[];
}

/** The queued messages: those given to `steer`, then those for their own turns. */
export class MessageQueue {
  #steering: Message[] = [];
  #waiting: Message[] = [];

  /** The queued messages as typed, in the order of delivery. */
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

  /** Takes the steering messages that were not delivered, or the newest of them. */
  takeSteering(count = this.#steering.length): readonly Message[] {
    return this.#steering.splice(this.#steering.length - count);
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

// One turn per minute and source: a job that prints errors forever must not use up the user's budget.
const INTERVAL_MS = 60_000;
// The maximum number of consecutive turns without a user message.
const MOST_TURNS = 20;
const MOST_SOURCES = 50;
const MOST_TEXTS = 20;
const LONGEST_TEXT = 4000;

/** The queued notices of packs. Those of the same source are joined. */
export class NoticeQueue {
  readonly #waiting = new Map<string, string[]>();
  readonly #startedAt = new Map<string, number>();
  readonly #onReady: () => void;
  readonly #now: () => number;
  #turns = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onReady` is called when a delayed notice may have its turn. */
  constructor(onReady: () => void, now: () => number = Date.now) {
    this.#onReady = onReady;
    this.#now = now;
  }

  /** Queues a notice. Text beyond the limits is dropped, oldest first. */
  add({ source, text }: WakeNotice): void {
    const texts = this.#waiting.get(source);
    if (texts) {
      texts.push(text.slice(0, LONGEST_TEXT));
      if (texts.length > MOST_TEXTS) texts.shift();
    } else if (this.#waiting.size < MOST_SOURCES) this.#waiting.set(source, [text.slice(0, LONGEST_TEXT)]);
  }

  /** Called when the user has written: packs may start turns again. */
  userWrote(): void {
    this.#turns = 0;
  }

  /** Takes the notice for a turn that starts now, if any. */
  next(): WakeNotice | undefined {
    if (this.#turns >= MOST_TURNS) return undefined;
    let soonest = Number.POSITIVE_INFINITY;
    for (const [source, texts] of this.#waiting) {
      const wait = (this.#startedAt.get(source) ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - this.#now();
      if (wait <= 0) {
        this.#waiting.delete(source);
        this.#startedAt.set(source, this.#now());
        this.#turns++;
        return { source, text: texts.join("\n\n") };
      }
      soonest = Math.min(soonest, wait);
    }
    clearTimeout(this.#timer);
    if (Number.isFinite(soonest)) this.#timer = setTimeout(this.#onReady, soonest).unref();
    return undefined;
  }
}

/** Asks the user one question at a time: calls, packs and servers may ask concurrently. */
export function questionQueue(): <T>(ask: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (ask) => {
    const next = last.then(ask);
    last = next.catch(() => undefined);
    return next;
  };
}
