import type { Client, Pool } from "pg";

// A notification locks the whole database when its transaction commits: send one for many changes.
const COLLECT_MS = 5;
const MAX_PAYLOAD = 7000;
// A notification is a hint and does not need to wait for the disk.
const NOTIFY = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
const RECONNECT_MS = 500;
const FOLLOW = "?";
// Followers repeat their notice every few seconds, so one that is gone is soon forgotten.
const FOLLOWED_MS = 10_000;

/** The topic that a run's worker listens to: it does not need every event of the run. */
export function cancelTopic(id: string): string {
  return `!${id}`;
}

/**
 * Sent repeatedly by a follower of a run. Only then is each event of the run notified: the server wakes every process
 * that listens to any of them.
 */
export function followTopic(id: string): string {
  return `${FOLLOW}${id}`;
}

/**
 * Notifies other processes that something about a run or a queue has changed. Notifications are batched, and only a
 * hint: every waiting process also polls at intervals, since poolers and lost connections drop notifications.
 */
export class Notices {
  readonly #pool: Pool;
  readonly #connect: () => Client;
  readonly #channel: string;
  readonly #onFault: (error: unknown) => void;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #outgoing = new Set<string>();
  readonly #followed = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #client: Client | undefined;
  #sentAt = -Infinity;
  #isClosed = false;

  constructor(pool: Pool, connect: () => Client, channel: string, onFault: (error: unknown) => void) {
    this.#pool = pool;
    this.#connect = connect;
    this.#channel = channel;
    this.#onFault = onFault;
  }

  /** Sends a topic soon: a run's id, or `queue`. */
  send(topic: string): void {
    this.#outgoing.add(topic);
    // The first one after a pause is sent immediately.
    const waitMs = Math.max(0, this.#sentAt + COLLECT_MS - performance.now());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sentAt = performance.now();
      void this.#flush();
    }, waitMs);
  }

  /** Whether someone follows the run, as far as this process knows: it must be listening to something. */
  isFollowed(id: string): boolean {
    return (this.#followed.get(id) ?? -Infinity) > performance.now() - FOLLOWED_MS;
  }

  /** Calls the listener when the topic was sent by any process, until the returned function is called. */
  on(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    void this.#listen();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#flush();
    await this.#client?.end().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const topics = [...this.#outgoing];
    this.#outgoing.clear();
    const payloads: string[] = [];
    for (const topic of topics) {
      const last = payloads.at(-1);
      if (last !== undefined && last.length + topic.length < MAX_PAYLOAD) {
        payloads[payloads.length - 1] = `${last},${topic}`;
      } else payloads.push(topic);
    }
    try {
      for (const payload of payloads)
        await this.#pool.query({ name: "notify", text: NOTIFY, values: [this.#channel, payload] });
    } catch (error) {
      if (!this.#isClosed) this.#onFault(error);
    }
  }

  async #listen(): Promise<void> {
    if (this.#client || this.#isClosed) return;
    const client = this.#connect();
    this.#client = client;
    const restart = (error: unknown): void => {
      if (this.#client !== client) return;
      this.#client = undefined;
      client.end().catch(() => undefined);
      if (this.#isClosed) return;
      this.#onFault(error);
      setTimeout(() => void this.#listen(), RECONNECT_MS).unref();
    };
    client.on("error", restart);
    client.on("notification", ({ payload = "" }) => {
      for (const topic of payload.split(",")) this.#receive(topic);
    });
    try {
      await client.connect();
      await client.query(`listen ${this.#channel}`);
      // Wake all listeners: notifications were lost while the connection was down.
      for (const topic of this.#listeners.keys()) this.#wake(topic);
    } catch (error) {
      restart(error);
    }
  }

  #receive(topic: string): void {
    if (topic.startsWith(FOLLOW)) {
      const id = topic.slice(FOLLOW.length);
      const isNews = !this.isFollowed(id);
      this.#forgetFollowers();
      this.#followed.delete(id);
      this.#followed.set(id, performance.now());
      // Wake the run's worker only for the first notification of a follower, not for each repetition.
      if (!isNews) return;
    }
    this.#wake(topic);
  }

  /** The map is ordered by when followers were last heard of. */
  #forgetFollowers(): void {
    for (const id of this.#followed.keys()) {
      if (this.isFollowed(id)) return;
      this.#followed.delete(id);
    }
  }

  #wake(topic: string): void {
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener();
  }
}
