import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { processTag } from "@agent/internal";
import type { Pause } from "../engine/run.js";
import { type Command, FORMAT } from "./command.js";
import { RunTable } from "./runTable.js";
import { writeAllSync } from "./writeAll.js";

const LOG_NAME = /^log\.(\d+)\.jsonl$/;
const NEWLINE = 0x0a;
// The tasks are private, also in a directory that others can read.
const FILE_MODE = 0o600;
// A link in the place of the log would have commands written to whatever it leads to.
const OPEN_LOG = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const READ_BYTES = 1024 * 1024;
// A log below this size is read in a few milliseconds; a larger one is rewritten once most of its commands are outdated.
const COMPACT_AT_BYTES = 4 * 1024 * 1024;
const LIVE_BYTES_PER_RUN = 600;

/**
 * The commands of all processes in one file, and the table they give. A command is one `write` at the end of the
 * file, which the system never mixes with another; it counts from there on. No lock is held at any time, so a
 * process that is killed or stopped blocks no other process.
 */
export class CommandLog {
  readonly #directory: string;
  readonly #flush: boolean;
  readonly #tag = `${processTag()}.${crypto.randomUUID().slice(0, 8)}`;
  #table: RunTable;
  #number = 0;
  #fd = -1;
  #offset = 0;
  /** The commands so far end with a seal: the next ones are in another log. */
  #isSealed = false;
  /** Why no further command can be applied. */
  #failure: unknown;
  #counter = 0;
  /** The verdict about the command this process wrote last. */
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

  /** Reads what others have written. */
  read(): void {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      // Throws while the disk is full, and is tried again by the next read.
      if (this.#isSealed) this.#moveOn();
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
    return this.#send(command) === true;
  }

  /** Takes a model call, and returns the pause before it if there is one. */
  takeModelCall(tenant: string, model: string): Pause | undefined {
    const applied = this.#send({ op: "model", at: Date.now(), tenant, model });
    return typeof applied === "boolean" ? undefined : applied;
  }

  #send(command: Command): boolean | Pause {
    for (;;) {
      const mark = `${this.#tag}.${++this.#counter}`;
      this.#verdict = { mark };
      const written = this.#number;
      // Begin with a line break: if an earlier writer left an incomplete line, this command must not become part of it.
      writeAllSync(this.#fd, `\n${JSON.stringify({ ...command, mark })}\n`);
      if (this.#flush) fdatasyncSync(this.#fd);
      this.read();
      const { applied } = this.#verdict;
      if (applied !== undefined) return applied;
      if (written === this.#number)
        throw new Error("A command was written to the log and cannot be read again.");
      // The log was sealed before the command: it is written to the next one.
    }
  }

  /** Starts a new log without history, if that is worth it. */
  compact(): void {
    const live = this.#table.runs.count * LIVE_BYTES_PER_RUN;
    if (this.#offset < COMPACT_AT_BYTES || this.#offset < 2 * live) return;
    this.submit({ op: "seal" });
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
    this.#table.close();
  }

  #emptyTable(): RunTable {
    return new RunTable(join(this.#directory, `.idle.${this.#tag}`));
  }

  #openNewest(): void {
    for (;;) {
      const numbers = readdirSync(this.#directory).flatMap((name) => {
        const number = LOG_NAME.exec(name)?.[1];
        return number === undefined ? [] : [Number(number)];
      });
      const newest = Math.max(0, ...numbers);
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
    this.#isSealed = false;
    this.#table = this.#emptyTable();
  }

  #path(number: number): string {
    return join(this.#directory, `log.${number}.jsonl`);
  }

  /** Creates a log together with its first lines, atomically and once: a second process finds the same content. */
  #publish(number: number, commands: Iterable<Command>): void {
    const temporary = join(this.#directory, `.log.${this.#tag}`);
    const lines = Array.from(commands, (command) => `${JSON.stringify(command)}\n`);
    writeFileSync(temporary, lines.join(""), { flush: true, mode: FILE_MODE });
    try {
      linkSync(temporary, this.#path(number));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      unlinkSync(temporary);
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
      if (this.#verdict && this.#verdict.mark === command.mark) this.#verdict.applied = applied;
      if (command.op === "seal") {
        this.#isSealed = true;
        return;
      }
    }
  }

  /** Everybody who reads a seal makes the next log, if it is not there yet. */
  #moveOn(): void {
    const next = this.#number + 1;
    this.#publish(next, this.#table.snapshot());
    const old = this.#path(this.#number);
    this.#open(next);
    try {
      unlinkSync(old);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** `undefined` for a line that its writer could not end: its command never took effect. */
function parse(line: string): (Command & { mark?: string }) | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value.op === "string" ? (value as never) : undefined;
  } catch {
    return undefined;
  }
}
