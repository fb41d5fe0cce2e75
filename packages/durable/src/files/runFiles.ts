import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import type { JournalEntry } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { RunResult } from "../engine/run.js";
import { isProgress } from "../journal/keys.js";
import { writeAllSync } from "./writeAll.js";

const NEWLINE = 0x0a;
// Space for the sizes of ten thousand earlier claims.
const MAX_HEADER_BYTES = 512 * 1024;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** One line of a journal file. */
export interface JournalLine {
  readonly at: number;
  readonly j?: readonly JournalEntry[];
  readonly e?: readonly RunEvent[];
}

/** A parsed line; the header of a file has neither entries nor events. */
export function parseLine(text: string): Partial<JournalLine> {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? (value as Partial<JournalLine>) : {};
}

/** A valid part of a run's journal: the file of one claim, up to `size`. */
export interface Segment {
  readonly epoch: number;
  /** `Infinity` for the newest. */
  readonly size: number;
}

/** The first line of a claim's file: the valid sizes of the files before it. Later writes to those are ignored. */
interface Header {
  readonly epoch: number;
  readonly previous: readonly Segment[];
}

/** The files of the runs: input, result, and one journal file per claim. */
export class RunFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = join(directory, "runs");
    mkdirSync(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
  }

  directory(id: string): string {
    return join(this.#directory, id);
  }

  /** Writes the input of a new run. If another creation was faster, its input is kept. */
  create(id: string, input: unknown): void {
    const directory = this.directory(id);
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    const temporary = join(directory, `.input.${crypto.randomUUID()}`);
    writeFileSync(temporary, JSON.stringify(input), { mode: FILE_MODE, flag: "wx" });
    // A hard link appears with its whole content or not at all, and never replaces a file.
    try {
      linkSync(temporary, join(directory, "input.json"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      unlinkSync(temporary);
    }
  }

  /** Writes the initial journal of a new run, as the file of a claim before the first one. */
  seed(id: string, entries: readonly JournalEntry[]): void {
    const path = this.journalPath(id, 0);
    rmSync(path, { force: true });
    const file = new JournalFile(path, { epoch: 0, previous: [] });
    try {
      file.append(JSON.stringify({ at: Date.now(), j: entries } satisfies JournalLine), true);
    } finally {
      file.close();
    }
  }

  /** The recorded entries of a run that was claimed `epoch` times. */
  readJournal(id: string, epoch: number): readonly JournalEntry[] {
    return this.segments(id, epoch)
      .flatMap(({ epoch: number, size }) => this.readFrom(id, number, 0, size))
      .flatMap(({ text }) => parseLine(text).j ?? []);
  }

  readInput(id: string): unknown {
    return readJson(join(this.directory(id), "input.json"));
  }

  writeResult(id: string, epoch: number, result: RunResult): void {
    writeFileSync(join(this.directory(id), `result.${epoch}.json`), JSON.stringify(result), {
      mode: FILE_MODE,
    });
  }

  readResult(id: string, epoch: number): RunResult | undefined {
    return readJson(join(this.directory(id), `result.${epoch}.json`)) as RunResult | undefined;
  }

  /**
   * Opens the journal of a new claim. Entries already in older journals stay valid; later writes to them are ignored.
   */
  openJournal(id: string, epoch: number): JournalFile {
    const previous = this.segments(id, epoch - 1).map(({ epoch: number, size }) => ({
      epoch: number,
      size: size === Infinity ? this.#wholeLines(id, number) : size,
    }));
    return new JournalFile(this.journalPath(id, epoch), { epoch, previous });
  }

  /** The valid parts of a run that was claimed `epoch` times; the newest file is open-ended. */
  segments(id: string, epoch: number): readonly Segment[] {
    for (let number = epoch; number >= 0; number--) {
      const header = this.readHeader(id, number);
      if (header) return [...header.previous, { epoch: number, size: Infinity }];
    }
    return [];
  }

  /** `undefined` if the claim has not created its file, or was lost before it had. */
  readHeader(id: string, epoch: number): Header | undefined {
    const first = this.readFrom(id, epoch, 0, MAX_HEADER_BYTES, { lines: 1 })[0]?.text;
    const header: unknown = first === undefined ? undefined : JSON.parse(first);
    return isRecord(header) && header.epoch === epoch ? (header as unknown as Header) : undefined;
  }

  /**
   * The whole lines of a journal file from a byte on, with the byte after each. `most` bounds how many: of `bytes`,
   * those that fit, and one that is longer.
   */
  readFrom(
    id: string,
    epoch: number,
    from: number,
    size: number,
    most: { readonly lines?: number; readonly bytes?: number } = {},
  ): readonly Line[] {
    let fd: number;
    try {
      fd = openSync(this.journalPath(id, epoch), "r");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
    try {
      const end = Math.min(size, fstatSync(fd).size);
      if (end <= from) return [];
      for (let length = most.bytes ?? Infinity; ; length *= 2) {
        const buffer = Buffer.allocUnsafe(Math.min(length, end - from));
        const count = readSync(fd, buffer, 0, buffer.length, from);
        const lines = splitLines(buffer.subarray(0, count), from, most.lines ?? Infinity);
        if (lines.length > 0 || length >= end - from) return lines;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Whether a claim has completed a step. */
  hasProgress(id: string, epoch: number): boolean {
    return this.readFrom(id, epoch, 0, Infinity).some(({ text }) => isProgress(parseLine(text).j ?? []));
  }

  remove(id: string): void {
    rmSync(this.directory(id), { recursive: true, force: true });
  }

  /** Runs that have a directory which has not changed since then. */
  *untouchedSince(time: number): Iterable<string> {
    for (const id of readdirSync(this.#directory)) {
      const stats = statSync(this.directory(id), { throwIfNoEntry: false });
      if (stats && stats.mtimeMs < time) yield id;
    }
  }

  journalPath(id: string, epoch: number): string {
    return join(this.directory(id), `journal.${epoch}.jsonl`);
  }

  #wholeLines(id: string, epoch: number): number {
    return this.readFrom(id, epoch, 0, Infinity).at(-1)?.end ?? 0;
  }
}

export interface Line {
  readonly text: string;
  /** The byte after the line break. */
  readonly end: number;
}

function splitLines(buffer: Buffer, from: number, most: number): Line[] {
  const lines: Line[] = [];
  for (let start = 0; lines.length < most; ) {
    const end = buffer.indexOf(NEWLINE, start);
    if (end === -1) break;
    lines.push({ text: buffer.toString("utf8", start, end), end: from + end + 1 });
    start = end + 1;
  }
  return lines;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The journal file of one claim. A line is one write; after a failed one nothing more is written. */
export class JournalFile {
  readonly #fd: number;
  #isBroken = false;

  constructor(path: string, header: Header) {
    this.#fd = openSync(path, "ax", FILE_MODE);
    try {
      this.append(JSON.stringify(header), false);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  append(line: string, flush: boolean): void {
    if (this.#isBroken) throw new Error("An earlier write to this journal failed.");
    try {
      writeAllSync(this.#fd, `${line}\n`);
      if (flush) fdatasyncSync(this.#fd);
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  close(): void {
    this.#isBroken = true;
    closeSync(this.#fd);
  }
}
