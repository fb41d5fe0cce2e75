import { closeSync, constants, fsyncSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { isEnded } from "../engine/run.js";
import type { Place } from "./idleFile.js";
import { type IndexHead, RunIndex } from "./runIndex.js";
import { writeAllSync } from "./writeAll.js";

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const FILE_MODE = 0o600;
const WRITE_BYTES = 1024 * 1024;

/** The runs that had finished when a log was started: their index, and their files. */
export interface Base {
  readonly index: string;
  readonly head: IndexHead;
  readonly segments: readonly SegmentFile[];
}

interface SegmentFile {
  readonly name: string;
  readonly bytes: number;
}

/** The files that `Archive.write` creates: the index, and the segment with new runs. */
export function baseFiles(tag: string): readonly [index: string, segment: string] {
  return [`index.${tag}`, `archive.${tag}`];
}

/**
 * Finished runs in immutable files that all processes share. With them a process is ready as soon as it has read the
 * index and the commands since then, however many runs have finished.
 */
export class Archive {
  readonly #directory: string;
  #segments: readonly SegmentFile[] = [];
  #fds: readonly number[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens the base of a log, and returns its index. */
  open({ index, head, segments }: Base): RunIndex {
    this.close();
    try {
      this.#fds = segments.map(({ name }) => openSync(join(this.#directory, name), READ));
      this.#segments = segments;
      const fd = openSync(join(this.#directory, index), READ);
      try {
        return new RunIndex({ head, data: readFileSync(fd) });
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw new AgentError(
        "session_invalid",
        `The archive of runs in ${this.#directory} cannot be read: ${errorMessage(error)} Restore it from a backup.`,
        { cause: error },
      );
    }
  }

  /** Reads a text. Segments are counted from 1. */
  read(segment: number, { position, bytes }: Place): string {
    const data = Buffer.allocUnsafe(bytes);
    const fd = this.#fds[segment - 1] ?? -1;
    if (readSync(fd, data, 0, bytes, position) < bytes) throw new Error("The archive of runs was cut off.");
    return data.toString("utf8");
  }

  /**
   * Writes a new base for the runs of an index; finished ones are read with `textOf`. Most segments are kept: only
   * small ones, and those with many removed runs, are merged with the new runs.
   */
  write(index: RunIndex, tag: string, textOf: (row: number) => string): Base {
    const copy = index.copy();
    const kept = this.#segmentsToKeep(index);
    const numbers = new Map(kept.map((number, position) => [number, position + 1]));
    const segments = kept.map((number) => this.#segments[number - 1] as SegmentFile);
    const [indexName, segmentName] = baseFiles(tag);
    const fresh = new FreshSegment(this.#directory, segmentName);
    try {
      // The copy has the same rows in the same order, without gaps.
      let row = 0;
      for (const source of index.rows()) {
        const { segment, ...place } = index.place(source);
        const number = numbers.get(segment);
        if (!isEnded(index.facts(source).state)) copy.setPlace(row, undefined);
        else if (number !== undefined) copy.setPlace(row, { ...place, segment: number });
        else copy.setPlace(row, { ...fresh.add(textOf(source)), segment: segments.length + 1 });
        row++;
      }
      const written = fresh.end();
      const { head, data } = copy.save();
      writeFile(join(this.#directory, indexName), data);
      return { index: indexName, head, segments: [...segments, ...written] };
    } finally {
      fresh.close();
    }
  }

  close(): void {
    for (const fd of this.#fds) closeSync(fd);
    this.#fds = [];
    this.#segments = [];
  }

  /** The segments that are larger than everything after them together: so there are few, and each is rarely copied. */
  #segmentsToKeep(index: RunIndex): readonly number[] {
    const live = new Array<number>(this.#segments.length + 1).fill(0);
    for (const row of index.rows()) {
      const { segment, bytes } = index.place(row);
      if (isEnded(index.facts(row).state)) live[segment] = (live[segment] ?? 0) + bytes;
    }
    const kept: number[] = [];
    let behind = live[0] ?? 0;
    for (let number = this.#segments.length; number > 0; number--) {
      const [bytes, total] = [live[number] ?? 0, this.#segments[number - 1]?.bytes ?? 0];
      if (bytes > behind && bytes > total / 2) kept.unshift(number);
      behind += bytes;
    }
    return kept;
  }
}

/** A segment that is being written; the file is created with the first text. */
class FreshSegment {
  readonly #directory: string;
  readonly #name: string;
  #fd = -1;
  #size = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  add(text: string): Place {
    const data = Buffer.from(text, "utf8");
    const place = { position: this.#size, bytes: data.length };
    this.#size += data.length;
    this.#pendingBytes += data.length;
    this.#pending.push(data);
    if (this.#pendingBytes >= WRITE_BYTES) this.#write();
    return place;
  }

  end(): readonly SegmentFile[] {
    if (this.#size === 0) return [];
    this.#write();
    fsyncSync(this.#fd);
    return [{ name: this.#name, bytes: this.#size }];
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
  }

  #write(): void {
    if (this.#fd === -1) this.#fd = openSync(join(this.#directory, this.#name), "wx", FILE_MODE);
    writeAllSync(this.#fd, Buffer.concat(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}

function writeFile(path: string, data: readonly Uint8Array[]): void {
  const fd = openSync(path, "wx", FILE_MODE);
  try {
    for (const part of data) writeAllSync(fd, part);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
