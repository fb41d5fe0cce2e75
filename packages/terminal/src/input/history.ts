import { appendFileSync, chmodSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { ensurePrivateDirectory } from "../system/directories.js";

const MOST_ENTRIES = 1000;
// Truncate the file only when it is well over the limit, so that two chats rarely do it at the same time.
const COMPACT_AT = MOST_ENTRIES * 2;
const LONGEST_ENTRY = 64 * 1024;

/**
 * The user's earlier input, including other sessions. One JSON string per line, added by a single append, so that
 * several chats can share the file; a malformed line is skipped. Only its owner can read it.
 */
export class History {
  readonly #path: string | undefined;
  readonly #entries: string[] = [];
  #separator = "";
  #position: number;
  #draft = "";

  constructor(path: string | undefined) {
    this.#path = path;
    if (path !== undefined) this.#load(path);
    this.#position = this.#entries.length;
  }

  /** Remembers an input, unless it starts with a space, repeats the last one or is very long. */
  add(entry: string): void {
    const worth = !entry.startsWith(" ") && entry !== this.#entries.at(-1) && entry.length <= LONGEST_ENTRY;
    if (worth) {
      this.#entries.push(entry);
      if (this.#entries.length > MOST_ENTRIES) this.#entries.shift();
      this.#append(entry);
    }
    this.#position = this.#entries.length;
  }

  /** The entry before the one shown. `current`, the unsent line, is kept and returns after the newest entry. */
  older(current: string): string | undefined {
    if (this.#position === 0) return undefined;
    if (this.#position === this.#entries.length) this.#draft = current;
    return this.#entries[--this.#position];
  }

  newer(): string | undefined {
    if (this.#position >= this.#entries.length) return undefined;
    this.#position++;
    return this.#position === this.#entries.length ? this.#draft : this.#entries[this.#position];
  }

  /** The newest entry older than `before` that contains the words, with its position; the same text is found once. */
  search(
    words: string,
    before = this.#entries.length,
  ): { readonly entry: string; readonly at: number } | undefined {
    const wanted = words.toLowerCase();
    const last = this.#entries[before];
    for (let at = before - 1; at >= 0; at--) {
      const entry = this.#entries[at] ?? "";
      if (entry !== last && entry.toLowerCase().includes(wanted)) return { entry, at };
    }
    return undefined;
  }

  #load(path: string): void {
    try {
      const content = readFileSync(path, "utf8");
      const entries = content.split("\n").flatMap(readEntry);
      this.#entries.push(...entries.slice(-MOST_ENTRIES));
      // A crash may have left an incomplete line: start a new one.
      if (content !== "" && !content.endsWith("\n")) this.#separator = "\n";
      chmodSync(path, 0o600);
      if (entries.length > COMPACT_AT) this.#compact(path);
    } catch {
      // No readable history: the chat works without one.
    }
  }

  #compact(path: string): void {
    const content = this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    this.#separator = "";
    writeFileAtomic(path, content).catch(() => undefined);
  }

  #append(entry: string): void {
    if (this.#path === undefined) return;
    try {
      ensurePrivateDirectory(dirname(this.#path));
      appendFileSync(this.#path, `${this.#separator}${JSON.stringify(entry)}\n`, { mode: 0o600 });
      this.#separator = "";
    } catch {
      // A full disk or a read-only home must not stop the conversation.
    }
  }
}

function readEntry(line: string): string[] {
  if (line === "") return [];
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" && entry !== "" ? [entry] : [];
  } catch {
    return [];
  }
}
