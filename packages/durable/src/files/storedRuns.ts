import type { RunState, RunSummary } from "../engine/run.js";
import { IdleFile } from "./idleFile.js";
import { type RunFacts, RunIndex } from "./runIndex.js";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A run that may be changed; the change counts once it is stored. */
export interface StoredRun {
  readonly row: number;
  readonly run: Mutable<RunSummary>;
}

/**
 * The runs of a table. In memory are those that are queued or running. The others wait for a user or have ended, and
 * there may be very many of them: they are in a file of this process.
 */
export class StoredRuns {
  readonly #index = new RunIndex();
  readonly #active = new Map<number, StoredRun["run"]>();
  readonly #idle: IdleFile;

  /** `idlePath` must be free; the file there is removed as soon as it is open. */
  constructor(idlePath: string) {
    this.#idle = new IdleFile(idlePath);
  }

  get count(): number {
    return this.#index.count;
  }

  find(id: string): StoredRun | undefined {
    for (const row of this.#index.candidates(id)) {
      const run = this.#load(row);
      if (run.id === id) return { row, run };
    }
    return undefined;
  }

  add(run: RunSummary): void {
    this.store({ row: this.#index.add(run), run });
  }

  store({ row, run }: StoredRun): void {
    if (isActive(run.state)) {
      this.#active.set(row, run);
      this.#index.set(row, run, undefined);
    } else {
      this.#active.delete(row);
      this.#index.set(row, run, this.#idle.add(JSON.stringify(run)));
    }
  }

  remove({ row }: StoredRun): void {
    this.#active.delete(row);
    this.#index.remove(row);
  }

  /** All runs, the oldest first. */
  *all(): Iterable<RunSummary> {
    for (const row of this.#index.rows()) yield this.#load(row);
  }

  /** What can be counted of all runs without reading them. */
  *facts(): Iterable<RunFacts> {
    for (const row of this.#index.rows()) yield this.#index.facts(row);
  }

  /** The runs whose facts match, the newest first; with `after`, those that are older than that run. */
  *select(matches: (facts: RunFacts) => boolean, after?: string): Iterable<RunSummary> {
    const first = after === undefined ? Infinity : (this.find(after)?.row ?? 0);
    for (const row of this.#index.newestRows()) {
      if (row < first && matches(this.#index.facts(row))) yield this.#load(row);
    }
  }

  close(): void {
    this.#idle.close();
  }

  #load(row: number): StoredRun["run"] {
    return this.#active.get(row) ?? JSON.parse(this.#idle.read(this.#index.place(row)));
  }
}

function isActive(state: RunState): boolean {
  return state === "queued" || state === "running";
}
