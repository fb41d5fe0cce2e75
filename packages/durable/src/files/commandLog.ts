import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { processTag } from "@agent/internal";
import type { Pause } from "../engine/run.js";
import { baseFiles } from "./archive.js";
import { type Command, FORMAT } from "./command.js";
import { RunTable } from "./runTable.js";
import { writeAllSync } from "./writeAll.js";

const LOG_NAME = /^log\.(\d+)\.jsonl$/;
const NEWLINE = 0x0a;
// The tasks are private, even in a directory that others can read.
const FILE_MODE = 0o600;
// A symlink in place of the log would redirect commands to its target.
const OPEN_LOG = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const READ_BYTES = 1024 * 1024;
// A log below this size is read in about a tenth of a second; a larger one is rewritten, without outdated commands.
const COMPACT_AT_BYTES = 2 * 1024 * 1024;
// Writing the index must not cost more than the commands it replaces.
const COMPACT_BYTES_PER_RUN = 16;
// Unreferenced files are kept for a while: a backup may be copying them, or a suspended process may still have to read
// them.
const KEEP_UNUSED_MS = 10 * 60_000;
const FILE_NAME = /^(?:log\.\d+\.jsonl|(?:index|archive)\..+)$/;

/**
 * The commands of all processes in one file, and the resulting table. A command is one `write` at the end of the file,
 * which the system never interleaves with another; it is valid from then on. No lock is ever held, so a process that is
 * killed or suspended blocks no other process.
 */
export class CommandLog {
  readonly #directory: string;
  readonly #flush: boolean;
  readonly #tag = `${processTag()}.${crypto.randomUUID().slice(0, 8)}`;
  #table: RunTable;
  #number = 0;
  #fd = -1;
  #offset = 0;
  /** The length of the initial lines of the log. */
  #baseBytes = 0;
  #inUse: ReadonlySet<string> = new Set();
  /** The files that the previous log refers to. */
  #usedBefore: ReadonlySet<string> = new Set();
  /** The commands so far end with a seal: the next ones are in another log. */
  #isSealed = false;
  /** Why the next log could not be written, while it cannot. */
  #stuck: unknown;
  /** Why no further command can be applied. */
  #failure: unknown;
  #counter = 0;
  /** The result of the last command that this process wrote. */
  #verdict: { readonly mark: string; applied?: boolean | Pause } | undefined;

  constructor(directory: string, flush: boolean) {
    this.#directory = directory;
    this.#flush = flush;
    this.#table = this.#emptyTable();
    this.#openNewest();
    this.read();
  }

  get table(): RunTable {
    return this.#table;
  }

  /** Reads the commands of other processes. */
  read(): void {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isSealed) {
        try {
          this.#moveOn();
        } catch (error) {
          // The log contains commands that cannot be read.
          if (this.#hasNext()) throw error;
          // The disk is full: the table has all commands so far, and the next read tries again.
          this.#stuck = error;
          return;
        }
      }
      const chunk = this.#readLines();
      if (chunk === undefined) return;
      try {
        this.#applyLines(chunk);
      } catch (error) {
        // The table lacks this command, so it must not take the ones after it.
        this.#failure = error;
      }
    }
  }

  /** Writes a command and returns whether it took effect. Throws, and nothing took effect, if it cannot be written. */
  submit(command: Command): boolean {
    const isApplied = this.#send(command) === true;
    try {
      this.compact();
    } catch {
      // The disk is full. The log is only longer than necessary.
    }
    return isApplied;
  }

  /** Takes a model call, and returns the pause before it, if any. */
  takeModelCall(tenant: string, model: string): Pause | undefined {
    const applied = this.#send({ op: "model", at: Date.now(), tenant, model });
    return typeof applied === "boolean" ? undefined : applied;
  }

  #send(command: Command): boolean | Pause {
    for (;;) {
      this.#checkOpen();
      const mark = `${this.#tag}.${++this.#counter}`;
      this.#verdict = { mark };
      const written = this.#number;
      // Begin with a line break: if an earlier writer left an incomplete line, this command must not become part of it.
      writeAllSync(this.#fd, `\n${JSON.stringify({ ...command, mark })}\n`);
      if (this.#flush) fdatasyncSync(this.#fd);
      this.read();
      const { applied } = this.#verdict;
      if (applied !== undefined) return applied;
      // The log was sealed before the command: it is written to the next one.
      if (written !== this.#number) continue;
      this.#checkOpen();
      throw new Error("A command was written to the log and cannot be read again.");
    }
  }

  /** Throws if commands have no effect, because the log is sealed and the next one cannot be written. */
  #checkOpen(): void {
    if (!this.#isSealed) return;
    this.read();
    if (this.#isSealed) throw this.#stuck;
  }

  /**
   * Starts a new log without history once this one has grown. Any process may do it at any time. Throws if the disk is
   * full, and changes nothing.
   */
  compact(): void {
    const grown = this.#offset - this.#baseBytes;
    const least = Math.max(COMPACT_AT_BYTES, this.#table.runs.count * COMPACT_BYTES_PER_RUN, this.#baseBytes);
    if (grown < least || this.#isSealed) return;
    // It is not written again to the next log, as other commands are: that one is short.
    writeAllSync(this.#fd, `\n${JSON.stringify({ op: "seal" } satisfies Command)}\n`);
    this.read();
    this.#removeUnused();
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
    this.#table.close();
  }

  #emptyTable(): RunTable {
    return new RunTable(this.#directory, this.#tag);
  }

  #openNewest(): void {
    for (;;) {
      const newest = Math.max(0, ...this.#numbers());
      if (newest === 0) this.#publish(1, [{ op: "format", version: FORMAT }]);
      try {
        this.#open(newest || 1);
        return;
      } catch (error) {
        // It was replaced by a newer one between the two calls.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }

  #open(number: number): void {
    const fd = openSync(this.#path(number), OPEN_LOG, FILE_MODE);
    this.close();
    this.#fd = fd;
    this.#number = number;
    this.#offset = 0;
    this.#baseBytes = 0;
    this.#usedBefore = this.#inUse;
    this.#inUse = new Set();
    this.#isSealed = false;
    this.#table = this.#emptyTable();
  }

  #path(number: number): string {
    return join(this.#directory, `log.${number}.jsonl`);
  }

  /**
   * Creates a log together with its first lines, atomically and once: a second process finds the same content. Unneeded
   * files of a base with this tag are removed.
   */
  #publish(number: number, commands: Iterable<Command>, tag = this.#tag): void {
    const temporary = join(this.#directory, `.log.${this.#tag}`);
    let isPublished = false;
    try {
      const lines = Array.from(commands, (command) => `${JSON.stringify(command)}\n`);
      writeFileSync(temporary, lines.join(""), { flush: true, mode: FILE_MODE });
      linkSync(temporary, this.#path(number));
      isPublished = true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(temporary, { force: true });
      if (!isPublished)
        for (const name of baseFiles(tag)) rmSync(join(this.#directory, name), { force: true });
    }
  }

  /** The next bytes up to a line's end, or `undefined` if no whole line follows. */
  #readLines(): Buffer | undefined {
    const unread = fstatSync(this.#fd).size - this.#offset;
    for (let length = Math.min(READ_BYTES, unread); length > 0; length = Math.min(2 * length, unread)) {
      const buffer = Buffer.allocUnsafe(length);
      const count = readSync(this.#fd, buffer, 0, length, this.#offset);
      const end = buffer.subarray(0, count).lastIndexOf(NEWLINE);
      if (end !== -1) {
        this.#offset += end + 1;
        return buffer.subarray(0, end);
      }
      if (length === unread) return undefined;
    }
    return undefined;
  }

  #applyLines(chunk: Buffer): void {
    for (const line of chunk.toString("utf8").split("\n")) {
      const command = line === "" ? undefined : parse(line);
      if (command === undefined) continue;
      const applied = this.#table.apply(command);
      if (command.mark === undefined && command.op !== "seal") this.#baseBytes += Buffer.byteLength(line);
      if (command.op === "base") {
        this.#inUse = new Set([command.index, ...command.segments.map(({ name }) => name)]);
        this.#touchUnused();
      }
      if (this.#verdict && this.#verdict.mark === command.mark) this.#verdict.applied = applied;
      if (command.op === "seal") {
        this.#isSealed = true;
        return;
      }
    }
  }

  /** Every process that reads a seal creates the next log, if there is no newer one yet. */
  #moveOn(): void {
    const next = this.#number + 1;
    const tag = `${next}.${this.#tag}`;
    if (!this.#hasNext()) {
      this.#publish(next, this.#table.snapshot(tag), tag);
    }
    // The newest, not the next one: a suspended process may be several logs behind.
    this.#openNewest();
  }

  #hasNext(): boolean {
    return this.#numbers().some((number) => number > this.#number);
  }

  #numbers(): number[] {
    return readdirSync(this.#directory).flatMap((name) => {
      const number = LOG_NAME.exec(name)?.[1];
      return number === undefined ? [] : [Number(number)];
    });
  }

  /** Updates the time of files that are no longer used: they may have been written long ago. */
  #touchUnused(): void {
    const now = new Date();
    for (const name of this.#usedBefore) {
      if (this.#inUse.has(name)) continue;
      try {
        utimesSync(join(this.#directory, name), now, now);
      } catch {
        // It was removed, or belongs to another user: it is only kept for a shorter time.
      }
    }
  }

  /** Removes earlier logs, the files that only they refer to, and files of interrupted processes. */
  #removeUnused(): void {
    const newest = Math.max(...this.#numbers());
    for (const name of readdirSync(this.#directory)) {
      const isUsed = this.#inUse.has(name) || Number(LOG_NAME.exec(name)?.[1] ?? 0) >= newest;
      if (!FILE_NAME.test(name) || isUsed || newest !== this.#number) continue;
      const path = join(this.#directory, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats && stats.mtimeMs < Date.now() - KEEP_UNUSED_MS) rmSync(path, { force: true });
    }
  }
}

/** `undefined` for an incomplete line: its command never took effect. */
function parse(line: string): (Command & { mark?: string }) | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value.op === "string" ? (value as never) : undefined;
  } catch {
    return undefined;
  }
}
