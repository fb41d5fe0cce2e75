import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { resolve } from "node:path";
import { AgentError } from "@agent/core";
import { check, checkOptions, errorMessage, invalidArgument, quote } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import { countActivity } from "../engine/activity.js";
import type {
  ActivityBucket,
  ClaimHandler,
  EngineWorker,
  EngineWorkOptions,
  EventsOptions,
  JournalEntry,
  RunAccess,
  RunEngine,
  RunFilter,
  RunQuery,
  WorkerInfo,
} from "../engine/engine.js";
import type { FollowedEvent } from "../engine/events.js";
import {
  type Decision,
  type Fork,
  isEnded,
  type NewRun,
  RUN_STATES,
  type Run,
  type RunState,
  type RunSummary,
  type TenantLimits,
} from "../engine/run.js";
import { checkSameRun } from "../engine/sameRun.js";
import type { Schedule } from "../engine/schedule.js";
import { TenantRuns } from "../engine/tenantRuns.js";
import { CommandLog } from "./commandLog.js";
import { FileWorker } from "./fileWorker.js";
import { Heartbeats } from "./heartbeats.js";
import { parseLine, RunFiles } from "./runFiles.js";
import type { RunFacts } from "./runIndex.js";

const DEFAULT_LIST_LIMIT = 100;
// An older directory without a run in the log belongs to an interrupted creation.
const ABANDONED_AFTER_MS = 3_600_000;
const FORGET_AT_ONCE = 1000;

export interface FileEngineOptions {
  /**
   * Whether each step is synced to the disk before the run continues: then even a power failure loses nothing, and a
   * step takes as long as the disk does. Default `false`: what is written survives the process, not the machine.
   */
  readonly flush?: boolean;
}

/**
 * An engine in a directory, shared by any number of processes on one machine. Nothing needs to be installed or started.
 * Throws if the directory cannot be used, or was written by a newer version. Not for network file systems.
 */
export function createFileEngine(directory: string, options: FileEngineOptions = {}): RunEngine {
  check.text("directory", directory);
  checkOptions("createFileEngine", options, { flush: check.boolean });
  const path = resolve(directory);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return new FileEngine(path, options.flush ?? false);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError(
      "invalid_argument",
      `The directory of runs ${quotePath(path)} cannot be used: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

class FileEngine implements RunEngine {
  readonly #directory: string;
  readonly #flush: boolean;
  readonly #log: CommandLog;
  readonly #files: RunFiles;
  readonly #heartbeats: Heartbeats;
  readonly #workers = new Set<EngineWorker>();

  constructor(directory: string, flush: boolean) {
    this.#directory = directory;
    this.#flush = flush;
    this.#log = new CommandLog(directory, flush);
    this.#files = new RunFiles(directory);
    this.#heartbeats = new Heartbeats(directory);
  }

  async create({ input, fork, ...run }: NewRun): Promise<boolean> {
    this.#log.read();
    if (this.#log.table.get(run.id)) return this.#checkSame({ ...run, input });
    this.#files.create(run.id, input);
    // Another process may create a run with this id at the same time: the input that was written first is valid, so a
    // command for another input must not be written.
    checkSameRun({ ...run, input }, { ...run, input: this.#files.readInput(run.id) });
    if (fork) this.#files.seed(run.id, fork.journal);
    const forked = fork && { fork: withoutJournal(fork) };
    const isCreated = this.#log.submit({ op: "create", at: Date.now(), run, ...forked });
    return isCreated || this.#checkSame({ ...run, input });
  }

  async get(id: string): Promise<Run | undefined> {
    this.#log.read();
    const run = this.#log.table.get(id);
    if (!run) return undefined;
    const result = run.state === "done" ? this.#files.readResult(id, run.epoch) : undefined;
    return { ...run, input: this.#files.readInput(id), ...(result && { result }) };
  }

  async list({
    limit = DEFAULT_LIST_LIMIT,
    after,
    ...filter
  }: RunQuery = {}): Promise<readonly RunSummary[]> {
    this.#log.read();
    const found: RunSummary[] = [];
    if (limit <= 0) return found;
    for (const run of this.#log.table.runs.select(matching(filter), after)) {
      if (matchesText(run, filter) && found.push({ ...run }) === limit) break;
    }
    return found;
  }

  async count(filter: RunFilter = {}): Promise<Readonly<Record<RunState, number>>> {
    const counts = Object.fromEntries(RUN_STATES.map((state) => [state, 0])) as Record<RunState, number>;
    this.#log.read();
    const matches = matching(filter);
    const { runs } = this.#log.table;
    if (filter.label === undefined && filter.text === undefined) {
      for (const facts of runs.facts()) if (matches(facts)) counts[facts.state]++;
    } else {
      for (const run of runs.select(matches)) if (matchesText(run, filter)) counts[run.state]++;
    }
    return counts;
  }

  async activity(
    since: number,
    bucketMs: number,
    query: Pick<RunQuery, "tenant"> = {},
  ): Promise<readonly ActivityBucket[]> {
    this.#log.read();
    const matches = matching(query);
    return countActivity(this.#log.table.runs.facts(since), since, bucketMs, matches);
  }

  events(id: string, options: EventsOptions = {}): AsyncIterable<FollowedEvent> {
    return readEvents(id, this.#directory, this.#log, this.#files, options);
  }

  async decide(id: string, key: string, decision: Decision): Promise<boolean> {
    return this.#log.submit({ op: "decide", at: Date.now(), id, key, decision });
  }

  async cancel(id: string, reason: string): Promise<boolean> {
    return this.#log.submit({ op: "cancel", at: Date.now(), id, reason });
  }

  async retry(id: string): Promise<boolean> {
    return this.#log.submit({ op: "retry", at: Date.now(), id });
  }

  async send(id: string, message: string): Promise<boolean> {
    return this.#log.submit({ op: "send", at: Date.now(), id, message });
  }

  async journal(id: string): Promise<readonly JournalEntry[]> {
    this.#log.read();
    const run = this.#log.table.get(id);
    return run ? this.#files.readJournal(id, run.epoch) : [];
  }

  async setPaused(tenant: string, isPaused: boolean): Promise<void> {
    this.#log.submit({ op: "pause", tenant, paused: isPaused });
  }

  async getPaused(): Promise<readonly string[]> {
    this.#log.read();
    return [...this.#log.table.paused].sort();
  }

  async workers(): Promise<readonly WorkerInfo[]> {
    this.#log.read();
    const held = this.#log.table.workers();
    return this.#heartbeats.list().map((info) => ({ ...info, runs: held.get(info.name)?.size ?? 0 }));
  }

  async setSchedule(schedule: Schedule): Promise<void> {
    this.#log.submit({ op: "schedule", schedule });
  }

  async removeSchedule(id: string): Promise<boolean> {
    return this.#log.submit({ op: "unschedule", id });
  }

  async getSchedules(): Promise<readonly Schedule[]> {
    this.#log.read();
    return [...this.#log.table.schedules.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async advanceSchedule(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean> {
    return this.#log.submit({ op: "advance", id, from, next });
  }

  async getAllLimits(): Promise<Readonly<Record<string, TenantLimits>>> {
    this.#log.read();
    const limits = [...this.#log.table.allLimits].filter(([, one]) => Object.keys(one).length > 0);
    return Object.fromEntries(limits.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async setLimits(tenant: string, limits: TenantLimits): Promise<void> {
    this.#log.submit({ op: "limits", at: Date.now(), tenant, limits });
  }

  async setRate(target: string, callsPerMinute: number | undefined): Promise<void> {
    const perMinute = callsPerMinute === undefined ? {} : { perMinute: callsPerMinute };
    this.#log.submit({ op: "rate", at: Date.now(), target, ...perMinute });
  }

  async getRates(): Promise<Readonly<Record<string, number>>> {
    this.#log.read();
    return this.#log.table.models.rates;
  }

  async getLimits(tenant: string): Promise<TenantLimits> {
    this.#log.read();
    return this.#log.table.limits(tenant);
  }

  async prune(endedBefore: number): Promise<number> {
    this.#log.read();
    const isOld = ({ state, endedAt = Infinity }: RunFacts): boolean =>
      isEnded(state) && endedAt < endedBefore;
    const ids = Array.from(this.#log.table.runs.select(isOld), ({ id }) => id);
    for (let start = 0; start < ids.length; start += FORGET_AT_ONCE) {
      const some = ids.slice(start, start + FORGET_AT_ONCE);
      this.#log.submit({ op: "forget", ids: some });
      // A run that someone retried in between is still in the table.
      for (const id of some) if (!this.#log.table.get(id)) this.#files.remove(id);
    }
    for (const id of this.#files.untouchedSince(Date.now() - ABANDONED_AFTER_MS)) {
      if (!this.#log.table.get(id)) this.#files.remove(id);
    }
    this.#log.compact();
    return ids.filter((id) => !this.#log.table.get(id)).length;
  }

  async work(handle: ClaimHandler, options: EngineWorkOptions): Promise<EngineWorker> {
    const worker = new FileWorker(
      {
        log: this.#log,
        files: this.#files,
        heartbeats: this.#heartbeats,
        flush: this.#flush,
        onChange: (listener) => watchDirectory(this.#directory, listener),
      },
      handle,
      options,
    );
    this.#workers.add(worker);
    return {
      close: async () => {
        await worker.close();
        this.#workers.delete(worker);
      },
    };
  }

  forTenant(tenant: string): RunAccess {
    return new TenantRuns(this, tenant);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    this.#workers.clear();
    this.#log.close();
  }

  /** Returns `false`: the run exists. Throws if another run has its id. */
  #checkSame(run: NewRun): false {
    const existing = this.#log.table.get(run.id);
    if (existing) checkSameRun(run, { ...existing, input: this.#files.readInput(run.id) });
    return false;
  }
}

function withoutJournal({ journal: _, ...rest }: Fork): Omit<Fork, "journal"> {
  return rest;
}

function matching({ state, tenant, undecided }: RunFilter): (facts: RunFacts) => boolean {
  return (facts) =>
    (state === undefined || facts.state === state) &&
    (tenant === undefined || facts.tenant === tenant) &&
    (!undecided || facts.undecided === true);
}

function matchesText({ id, title = "", error, labels }: RunSummary, { label, text }: RunFilter): boolean {
  if (label !== undefined && !labels.includes(label)) return false;
  const wanted = text?.toLowerCase();
  return (
    wanted === undefined ||
    [id, title, error?.message ?? ""].some((one) => one.toLowerCase().includes(wanted))
  );
}

/** The position to continue from: the claim's number, the byte after the line, and how many events of the next line. */
interface Position {
  readonly epoch: number;
  readonly byte: number;
  readonly index: number;
}

// A reader may be slow, and there may be many: each holds one piece of a journal at a time.
const PIECE_BYTES = 256 * 1024;
const START: Position = { epoch: 0, byte: 0, index: 0 };
const CURSOR = /^(\d{1,9})\.(\d{1,15})\.(\d{1,9})$/;

/** Reads a run's events in order. Events that a worker wrote after it had lost the run are excluded. */
async function* readEvents(
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
  // Until a claim has created its file, it is not known how much of the earlier files is valid.
  if (run.state === "running" && !files.readHeader(id, epoch)) return [];
  for (const segment of files.segments(id, epoch)) {
    if (segment.epoch < position.epoch) continue;
    const isSame = segment.epoch === position.epoch;
    for (let start = isSame ? position.byte : 0; ; ) {
      const lines = files.readFrom(id, segment.epoch, start, segment.size, { bytes: PIECE_BYTES });
      if (lines.length === 0) break;
      log.read();
      // Read again if another worker has claimed the run meanwhile.
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

/** Waits for changes in directories; a change that happens while no one waits is not missed. */
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

// If the system reports no changes, or has no free watcher, this is the polling interval.
const POLL_MS = 100;

/** Calls `onChange` soon after something in the directory may have changed, and at intervals in any case. */
function watchDirectory(directory: string, onChange: () => void): () => void {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(directory, { persistent: false }, onChange);
    watcher.on("error", () => watcher?.close());
  } catch {
    // No watcher is available: polling alone is enough.
  }
  const timer = setInterval(onChange, POLL_MS);
  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}
