import { join } from "node:path";
import { isEnded, type RunState, type RunSummary } from "../engine/run.js";
import { Archive, type Base } from "./archive.js";
import { IdleFile } from "./idleFile.js";
import { type RunFacts, RunIndex } from "./runIndex.js";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A mutable run; the change is valid once it is stored. */
export interface StoredRun {
  readonly row: number;
  readonly run: Mutable<RunSummary>;
}

/**
 * The runs of a table. Queued and running ones are in memory. The others wait for a user or have finished, and there
 * may be very many of them: they are in a file of this process, or in the archive of the directory.
 */
export class StoredRuns {
  readonly #active = new Map<number, StoredRun["run"]>();
  readonly #idle: IdleFile;
  readonly #archive: Archive;
  #index = new RunIndex();

  /** `tag` names a file that no other process uses; it is unlinked as soon as it is open. */
  constructor(directory: string, tag: string) {
    this.#idle = new IdleFile(join(directory, `.idle.${tag}`));
    this.#archive = new Archive(directory);
  }

  /** Starts with the runs of an archive; unfinished ones are stored in their rows afterwards. */
  load(base: Base): void {
    this.#index = this.#archive.open(base);
  }

  /** Writes an archive of the finished runs. Returns it with the others, by their row there. */
  save(tag: string): { readonly base: Base; readonly rest: Iterable<StoredRun> } {
    return { base: this.#archive.write(this.#index, tag, (row) => this.#text(row)), rest: this.#unended() };
  }

  *#unended(): Iterable<StoredRun> {
    let copied = 0;
    for (const row of this.#index.rows()) {
      if (!isEnded(this.#index.facts(row).state)) yield { row: copied, run: this.#load(row) };
      copied++;
    }
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
      this.#index.set(row, run, { ...this.#idle.add(JSON.stringify(run)), segment: 0 });
    }
  }

  remove({ row }: StoredRun): void {
    this.#active.delete(row);
    this.#index.remove(row);
  }

  /** The facts of all runs, or of those that started or finished since a time, without reading the runs. */
  *facts(since?: number): Iterable<RunFacts> {
    const rows = since === undefined ? this.#index.rows() : this.#index.rowsSince(since);
    for (const row of rows) yield this.#index.facts(row);
  }

  /** The runs whose facts match, newest first; with `after`, those that are older than that run. */
  *select(matches: (facts: RunFacts) => boolean, after?: string): Iterable<RunSummary> {
    const first = after === undefined ? Infinity : (this.find(after)?.row ?? 0);
    for (const row of this.#index.newestRows()) {
      if (row < first && matches(this.#index.facts(row))) yield this.#load(row);
    }
  }

  close(): void {
    this.#idle.close();
    this.#archive.close();
  }

  #load(row: number): StoredRun["run"] {
    return this.#active.get(row) ?? JSON.parse(this.#text(row));
  }

  #text(row: number): string {
    const { segment, ...place } = this.#index.place(row);
    return segment === 0 ? this.#idle.read(place) : this.#archive.read(segment, place);
  }
}

function isActive(state: RunState): boolean {
  return state === "queued" || state === "running";
}
