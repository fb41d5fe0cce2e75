import { compileQuery } from "../match/query.js";
import type { ByteWindow } from "../match/window/byteWindow.js";
import {
  addNotSearched,
  emptyTally,
  type FileHits,
  type GlobTask,
  type LargeFile,
  leastCharacters,
  type RangeTask,
  type Reply,
  type ScanTask,
  type Scope,
  type Task,
  type TextQuery,
} from "../protocol.js";
import { Boundary } from "./boundary.js";
import { type GlobLibraries, loadGlobLibraries } from "./glob/libraries.js";
import { GlobPlan } from "./glob/plan.js";
import { globTask } from "./glob/task.js";
import { NotSearched } from "./notSearched.js";
import { createScanWindow, FileScanner } from "./scan/file.js";
import { walkTask } from "./walkTask.js";

/** The context in which a task runs. */
export interface TaskHost {
  post(reply: Reply): void;
  /** Called often: reports progress, and throws once the task is cancelled. */
  heartbeat(place: number): void;
}

/** The matchers that are available to a task. */
export interface Engine {
  /** `false` disables WebAssembly, for comparing the two. */
  readonly simd: boolean;
  /** Whether V8's own engine may match an expression: only if it can be terminated from outside. */
  readonly backtracking: boolean;
}

/** Runs tasks one after the other, and keeps what the tasks of one search share. */
export class TaskRunner {
  #scanner: { readonly key: string; readonly scanner: FileScanner } | undefined;
  #window: ByteWindow | undefined;
  #libraries: GlobLibraries | undefined;
  #plan: { readonly search: number; readonly plan: GlobPlan } | undefined;

  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Prepares what the first search would have to wait for. */
  warmUp(): void {
    this.#window ??= createScanWindow(this.#engine.simd);
  }

  /** Loads the libraries that the task needs. Await it before running the task. */
  async load(task: Task): Promise<void> {
    const hasGlob = task.kind === "glob" || (task.kind === "walk" && task.glob !== undefined);
    if (hasGlob) this.#libraries ??= await loadGlobLibraries();
  }

  /**
   * Runs a task; its last reply is the result. It yields periodically, so that a host without workers can do other
   * work.
   */
  *run(task: Task, host: TaskHost): Generator<void> {
    switch (task.kind) {
      case "walk":
        return yield* within(task.scope, (boundary) =>
          walkTask(task, boundary, host, () => this.#globLibraries()),
        );
      case "glob":
        return yield* within(task.query.scope, (boundary) =>
          globTask(task, this.#planFor(task, boundary), boundary, host),
        );
      case "scan":
        return yield* within(task.scope, (boundary) =>
          scanTask(task, this.#scannerFor(task.query), boundary, host),
        );
      case "range":
        return yield* within(task.scope, (boundary) =>
          rangeTask(task, this.#scannerFor(task.query), boundary, host),
        );
    }
  }

  #scannerFor(query: TextQuery): FileScanner {
    const key = JSON.stringify(query);
    if (this.#scanner?.key !== key) {
      const compiled = compileQuery(query, this.#engine);
      this.#window = this.#scanner?.scanner.window ?? this.#window ?? createScanWindow(this.#engine.simd);
      this.#scanner = { key, scanner: new FileScanner(query, compiled, this.#engine.simd, this.#window) };
    }
    return this.#scanner.scanner;
  }

  #planFor({ search, query }: GlobTask, boundary: Boundary): GlobPlan {
    if (this.#plan?.search !== search)
      this.#plan = { search, plan: new GlobPlan(query, boundary, this.#globLibraries()) };
    return this.#plan.plan;
  }

  #globLibraries(): GlobLibraries {
    if (!this.#libraries) throw new Error("load() has not been awaited.");
    return this.#libraries;
  }
}

/** Runs the steps of a task within the boundary of its scope, and closes its open directories. */
function* within(scope: Scope, steps: (boundary: Boundary) => Iterable<void>): Generator<void> {
  const boundary = new Boundary(scope);
  try {
    yield* steps(boundary);
  } finally {
    boundary.close();
  }
}

const FILES_PER_STEP = 16;
/**
 * Directories with files that the kernel generates: they are read in portions. Named files may be of this kind
 * anywhere.
 */
const MADE_UP = /^\/(?:proc|sys)\//;

function* scanTask(
  task: ScanTask,
  scanner: FileScanner,
  boundary: Boundary,
  host: TaskHost,
): Generator<void> {
  const { batch, query } = task;
  const labels = batch.labels?.split("\0");
  const tally = emptyTally();
  const hits: FileHits[] = [];
  const large: LargeFile[] = [];
  let searched = 0;
  let matches = 0;
  let matchedFiles = 0;
  let budget = task.budget;
  let characters = 0;
  for (const [index, path] of batch.paths.split("\0").entries()) {
    if (index % FILES_PER_STEP === FILES_PER_STEP - 1) yield;
    const label = labels?.[index] ?? batch.shown + path;
    const least = leastCharacters(label, query.mode);
    const room = Math.max(0, Math.ceil((query.maxCharacters - characters) / least));
    const options = {
      budget: query.mode === "lines" ? Math.min(budget, room) : 0,
      splitLarge: task.splitLarge,
      named: batch.named,
      inPortions: batch.named || MADE_UP.test(batch.base + path),
      boundary,
      heartbeat: () => host.heartbeat(index),
    };
    try {
      const found = scanner.scan(batch.base + path, options);
      if (found.large) {
        large.push({ index, path: batch.base + path, label, ...found.large });
        continue;
      }
      searched++;
      if (found.inPieces) tally.pieces++;
      if (found.matches === 0) continue;
      matches += found.matches;
      matchedFiles++;
      const { rows, characters: shown } = found.collector;
      if (budget > 0) hits.push({ index, label, matches: found.matches, rows });
      budget = Math.max(0, budget - (query.mode === "lines" ? found.matches : 1));
      characters += query.mode === "lines" ? shown + rows.length * least : least;
      if (characters >= query.maxCharacters) budget = 0;
    } catch (error) {
      if (!(error instanceof NotSearched)) throw error;
      addNotSearched(tally, label, error, batch.named);
    }
  }
  host.post({ kind: "scanned", tally, searched, matches, matchedFiles, hits, large });
}

function rangeTask(
  task: RangeTask,
  scanner: FileScanner,
  boundary: Boundary,
  host: TaskHost,
): Iterable<void> {
  const { path, from, to, identity, budget, named } = task;
  try {
    const range = { from, to, identity };
    const options = {
      ...{ budget, splitLarge: false, named, inPortions: named, range },
      boundary,
      heartbeat: () => host.heartbeat(0),
    };
    const { matches, collector, inPieces } = scanner.scan(path, options);
    const { lines, rows } = collector;
    host.post({ kind: "ranged", matches, lines, rows, inPieces, failed: undefined });
  } catch (error) {
    if (!(error instanceof NotSearched)) throw error;
    const failed = { status: error.status, reason: error.reason };
    host.post({ kind: "ranged", matches: 0, lines: 0, rows: [], inPieces: false, failed });
  }
  return [];
}
