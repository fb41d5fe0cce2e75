import { describeValue, errorMessage, quote } from "@agent/internal";
import { AgentError } from "../errors.js";

/** The maximum size of the state of one pack, in bytes of JSON. */
const MAX_STATE_BYTES = 64 * 1024;
// Earlier values are kept for a conversation that is rewound. The oldest are dropped first.
const MAX_HISTORY_BYTES = 1024 * 1024;

/**
 * State that a pack keeps with the session, such as a plan or a cursor. It is stored and copied with the conversation,
 * and restored when the conversation is rewound.
 */
export interface PackState {
  /** A copy of the value that was set last; `undefined` if there is none. */
  get(): unknown;
  /**
   * Replaces the value with JSON of at most 64 KB; `undefined` removes it. Throws and changes nothing for any other
   * value.
   */
  set(value: unknown): void;
}

/** A value of a pack's state and the time it was set. */
export interface StateEntry {
  readonly pack: string;
  /** The number of messages that the conversation had. */
  readonly at: number;
  /** Absent: the state was removed. */
  readonly value?: unknown;
}

/** A change of a pack's state that a call made, as a journal keeps it with the result. */
export interface StateChange {
  readonly pack: string;
  /**
   * The version of the conversation's states, so that the results of overlapping calls are applied in the right order.
   */
  readonly version: number;
  readonly value?: unknown;
}

interface Kept {
  readonly pack: string;
  at: number;
  /** JSON, or `undefined` for a state that was removed. */
  readonly text: string | undefined;
  readonly version: number;
}

/** The states of all packs of one conversation, with the earlier values. */
export class PackStates {
  #kept: Kept[] = [];
  #version = 0;

  /** The number of changes so far. */
  get version(): number {
    return this.#version;
  }

  get(pack: string): unknown {
    return parsed(this.#kept.findLast((one) => one.pack === pack)?.text);
  }

  set(pack: string, at: number, value: unknown, version = this.#version + 1): void {
    const text = toText(pack, value);
    const last = this.#kept.findLast((one) => one.pack === pack);
    // Values set at the same position: no rewind can return to the earlier one.
    if (last?.at === at) this.#kept.splice(this.#kept.indexOf(last), 1);
    this.#version = Math.max(this.#version, version);
    this.#kept.push({ pack, at, text, version });
    this.#forget(pack);
  }

  /** The newest value of each pack that changed after the given version. */
  changedSince(version: number): StateChange[] {
    const newest = new Map(this.#kept.map((one) => [one.pack, one]));
    return [...newest.values()]
      .filter((one) => one.version > version)
      .map(({ pack, text, version: when }) => ({ pack, version: when, ...entryValue(text) }));
  }

  /** The packs that have a state now. */
  packs(): string[] {
    const newest = new Map(this.#kept.map((one) => [one.pack, one.text]));
    return [...newest].flatMap(([pack, text]) => (text === undefined ? [] : [pack]));
  }

  entries(): StateEntry[] {
    return this.#kept.map(({ pack, at, text }) => ({ pack, at, ...entryValue(text) }));
  }

  /** Handles replaced messages: states that were set after removed messages are rewound. */
  replaced(start: number, count: number, added: number, length: number): void {
    const end = start + count;
    if (added === 0 && end >= length) {
      this.#kept = this.#kept.filter(({ at }) => at <= start);
      return;
    }
    for (const one of this.#kept) {
      if (one.at > end) one.at += added - count;
      else if (one.at > start) one.at = start + added;
    }
  }

  #forget(pack: string): void {
    const own = this.#kept.filter((one) => one.pack === pack);
    let bytes = own.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
    for (const one of own.slice(0, -1)) {
      if (bytes <= MAX_HISTORY_BYTES) return;
      bytes -= one.text?.length ?? 0;
      this.#kept.splice(this.#kept.indexOf(one), 1);
    }
  }
}

/** Whether this is an entry of a session file about a pack's state. */
export function isStateEntry(entry: { readonly pack?: unknown; readonly at?: unknown }): boolean {
  return typeof entry.pack === "string" && Number.isInteger(entry.at);
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

function entryValue(text: string | undefined): { readonly value?: unknown } {
  return text === undefined ? {} : { value: JSON.parse(text) };
}

function toText(pack: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const refuse = (problem: string): AgentError =>
    new AgentError("invalid_argument", `The state of pack ${quote(pack)} was not changed: ${problem}`);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw refuse(`it cannot be written as JSON: ${errorMessage(error)}`);
  }
  if (text === undefined) throw refuse(`it must be a JSON value, got ${describeValue(value)}.`);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_STATE_BYTES) {
    throw refuse(
      `it is ${bytes} bytes of JSON, and at most ${MAX_STATE_BYTES} are kept. Store more in a file of host.directories.`,
    );
  }
  return text;
}
