import { invalidArgument, quote } from "@agent/core/toolkit";
import type { EventsOptions } from "../engine/engine.js";
import type { FollowedEvent } from "../engine/events.js";
import { isEnded, type RunSummary } from "../engine/run.js";
import type { CommandLog } from "./commandLog.js";
import type { RunFiles } from "./runFiles.js";
import { parseLine } from "./runFiles.js";
import { watchDirectory } from "./watch.js";

/** After which event to go on: the claim's number, the byte after the line, and how many events of the next line. */
interface Position {
  readonly epoch: number;
  readonly byte: number;
  readonly index: number;
}

// A reader may be slow, and there may be many: each holds a piece of a journal at a time.
const PIECE_BYTES = 256 * 1024;
const START: Position = { epoch: 0, byte: 0, index: 0 };
const CURSOR = /^(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/;

/** Reads a run's events in order. What a worker wrote after it had lost the run is never among them. */
export async function* readEvents(
  id: string,
  root: string,
  log: CommandLog,
  files: RunFiles,
  { after, follow = false, signal }: EventsOptions,
): AsyncGenerator<FollowedEvent> {
  let position = parseCursor(after);
  let reported: string | undefined;
  const changes = follow ? new Changes([root, files.directory(id)]) : undefined;
  const wake = (): void => changes?.wake();
  signal?.addEventListener("abort", wake);
  try {
    while (!signal?.aborted) {
      log.read();
      const run = log.table.get(id);
      if (!run) return;
      const before = { ...run };
      const batch = readBatch(before, position, log, files);
      for (const [event, next] of batch) {
        position = next;
        yield event;
      }
      if (batch.length > 0) continue;
      const state = `${before.state} ${before.epoch}`;
      if (follow && state !== reported) {
        reported = state;
        yield { cursor: formatCursor(position), run: before };
      }
      if (!follow || isEnded(before.state)) return;
      await changes?.next();
    }
  } finally {
    signal?.removeEventListener("abort", wake);
    changes?.close();
  }
}

function readBatch(
  run: RunSummary,
  position: Position,
  log: CommandLog,
  files: RunFiles,
): (readonly [FollowedEvent, Position])[] {
  const { id, epoch } = run;
  // Until a claim has begun its file, it is not known how much of the earlier files counts.
  if (run.state === "running" && !files.readHeader(id, epoch)) return [];
  for (const segment of files.segments(id, epoch)) {
    if (segment.epoch < position.epoch) continue;
    const isSame = segment.epoch === position.epoch;
    for (let start = isSame ? position.byte : 0; ; ) {
      const lines = files.readFrom(id, segment.epoch, start, segment.size, { bytes: PIECE_BYTES });
      if (lines.length === 0) break;
      log.read();
      // Read what counts again if another worker has taken the run meanwhile.
      if (log.table.get(id)?.epoch !== epoch) return readAgain(id, position, log, files);
      const events: (readonly [FollowedEvent, Position])[] = [];
      for (const { text, end } of lines) {
        const { at = 0, e = [] } = parseLine(text);
        for (const [index, event] of e.entries()) {
          if (isSame && start === position.byte && index < position.index) continue;
          const isLast = index === e.length - 1;
          const next: Position = isLast
            ? { epoch: segment.epoch, byte: end, index: 0 }
            : { epoch: segment.epoch, byte: start, index: index + 1 };
          events.push([{ cursor: formatCursor(next), at, epoch: segment.epoch, event }, next]);
        }
        start = end;
      }
      if (events.length > 0) return events;
    }
  }
  return [];
}

function readAgain(id: string, position: Position, log: CommandLog, files: RunFiles) {
  const run = log.table.get(id);
  return run ? readBatch({ ...run }, position, log, files) : [];
}

function formatCursor({ epoch, byte, index }: Position): string {
  return `${epoch}.${byte}.${index}`;
}

function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return START;
  const [, epoch, byte, index] = CURSOR.exec(cursor) ?? [];
  if (epoch === undefined)
    throw invalidArgument("after", `a cursor of an earlier event, not ${quote(cursor)}`, cursor);
  return { epoch: Number(epoch), byte: Number(byte), index: Number(index) };
}

/** Waits for changes in directories; one that comes while no one waits is not missed. */
class Changes {
  #isPending = false;
  #wake: (() => void) | undefined;
  readonly #stops: readonly (() => void)[];

  constructor(directories: readonly string[]) {
    this.#stops = directories.map((directory) => watchDirectory(directory, () => this.wake()));
  }

  wake(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#isPending) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isPending = false;
    this.#wake = undefined;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}
