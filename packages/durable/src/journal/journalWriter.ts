import type { JournalEntry, RunClaim } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { EventLog } from "./eventLog.js";

// Long enough to put many small pieces of text into one write, short enough to look live.
const EVENTS_WAIT_MS = 10;
const MAX_WAITING_EVENTS = 256;

/**
 * Writes the journal and the events of a claim, in order and one write at a time. Entries added during a write go into
 * the next one, so that the result of a call, the following answer and the intent of the next call cost one write
 * together. After a failed write nothing more is written.
 */
export class JournalWriter {
  readonly #log: EventLog;
  readonly #append: RunClaim["append"];
  readonly #onFault: (error: unknown) => void;
  #entries: JournalEntry[] = [];
  #writes: Promise<void> = Promise.resolve();
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(log: EventLog, append: RunClaim["append"], onFault: (error: unknown) => void) {
    this.#log = log;
    this.#append = append;
    this.#onFault = onFault;
  }

  /** Adds an entry that is written while the run continues: code that depends on it being stored calls `settle`. */
  add(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#soon ??= setImmediate(() => this.#writeBehind());
  }

  addEvent(event: RunEvent): void {
    this.#log.add(event);
    if (this.#log.size >= MAX_WAITING_EVENTS) this.#soon ??= setImmediate(() => this.#writeBehind());
    else if (this.#log.size > 0) this.#later ??= setTimeout(() => this.#writeBehind(), EVENTS_WAIT_MS);
  }

  /** Resolves once everything that was added is stored. Rejects if that, or an earlier write, failed. */
  settle(): Promise<void> {
    this.#forgetTimers();
    this.#writes = this.#writes.then(() => this.#write());
    return this.#writes;
  }

  /** Drops waiting entries. */
  close(): void {
    this.#forgetTimers();
    this.#entries = [];
    this.#log.take();
  }

  #writeBehind(): void {
    this.settle().catch(this.#onFault);
  }

  async #write(): Promise<void> {
    const entries = this.#entries;
    const events = this.#log.take();
    if (entries.length + events.length === 0) return;
    this.#entries = [];
    await this.#append(entries, events);
  }

  #forgetTimers(): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = undefined;
    this.#later = undefined;
  }
}
