import { addTally, emptyTally, type GlobQuery, type GlobTask, type Tally } from "../protocol.js";
import { type SearchLimits, withLimits } from "./limits.js";
import type { Job, Pool } from "./pool/pool.js";

/**
 * The number of entries after which a task stops reading directories: the first task is short, to find out soon whether
 * there is work to share.
 */
const FIRST_ENTRIES = 500;
const LATER_ENTRIES = 4000;
/** The maximum number of directories per task. */
const MAX_DIRECTORIES = 32;

export interface FilesResult {
  readonly paths: readonly string[];
  /** Whether the total length of the paths, not their number, reached its limit. */
  readonly isFull: boolean;
  readonly total: number;
  readonly tally: Tally;
  /** A suggestion if nothing is found. */
  readonly hint: string | undefined;
}

/** A directory and its entries in path order: files, and directories for other tasks. */
interface Branch {
  readonly directory: string;
  /** `undefined` until a task has read it. */
  entries: readonly (string | Branch)[] | undefined;
  next: number;
}

/** Finds files by name. Rejects at the deadline: part of a sorted list is useless. */
export async function searchFiles(pool: Pool, query: GlobQuery, limits: SearchLimits): Promise<FilesResult> {
  const progress = new FilesProgress(pool, query);
  const stopped = await withLimits(progress.job, limits, progress.run());
  if (stopped?.reason === "deadline") {
    throw new Error(
      `Stopped after ${limits.timeoutMs} ms, before all directories were searched. Search a smaller path.`,
    );
  }
  if (stopped) throw new Error("Stopped: the pattern takes too long to match. Use a simpler one.");
  return progress.result();
}

/**
 * A search in progress. A task reads some directories and returns the unread ones, which other tasks process, one per
 * worker at a time. The results are merged in path order, whatever order the tasks finish in.
 */
class FilesProgress {
  readonly job: Job;
  readonly #search: number;
  readonly #tally = emptyTally();
  #total = 0;
  /** The first paths in order, as far as they are known. */
  readonly #paths: string[] = [];
  /** The position up to which the result is known: the first unread directory in path order. */
  readonly #trail: Branch[] = [];
  /** The directories for other tasks, used as a stack. */
  readonly #open: Branch[] = [];
  #running = 0;
  /** The total length of the paths, including line endings. */
  #characters = 0;
  #isFull = false;
  #hint: string | undefined;

  readonly #pool: Pool;
  readonly #query: GlobQuery;

  constructor(pool: Pool, query: GlobQuery) {
    this.#pool = pool;
    this.#query = query;
    this.job = pool.createJob();
    this.#search = this.job.id;
  }

  run(): Promise<void> {
    const all: Branch = { directory: "", entries: undefined, next: 0 };
    this.#trail.push(all);
    return this.#look([all], this.#pool.size > 1 ? FIRST_ENTRIES : Number.POSITIVE_INFINITY);
  }

  result(): FilesResult {
    return {
      paths: this.#paths,
      isFull: this.#isFull,
      total: this.#total,
      tally: this.#tally,
      hint: this.#hint,
    };
  }

  async #look(branches: readonly Branch[], maxEntries: number): Promise<void> {
    const task: GlobTask = {
      ...{ kind: "glob", query: this.#query, search: this.#search, maxEntries },
      directories: branches.map((branch) => branch.directory),
      budget: this.#isFull ? 0 : this.#query.limit - this.#paths.length,
    };
    this.#running++;
    await this.job.run(task, (reply) => {
      if (reply.kind !== "globbed") return;
      addTally(this.#tally, reply.tally);
      this.#total += reply.total;
      this.#hint = reply.hint;
      // Pushed in reverse, so that the first is processed first.
      for (let index = branches.length - 1; index >= 0; index--) {
        this.#store(branches[index], reply.lists[index] ?? "");
      }
    });
    this.#running--;
    this.#advance();
    const more: Promise<void>[] = [];
    while (this.#running < this.#pool.size && this.#open.length > 0) {
      more.push(this.#look(this.#takeOpen(), LATER_ENTRIES));
    }
    await Promise.all(more);
  }

  #store(branch: Branch | undefined, list: string): void {
    if (branch === undefined) return;
    const left: Branch[] = [];
    branch.entries = (list === "" ? [] : list.split("\0")).map((entry) => {
      if (!entry.endsWith("/")) return entry;
      const directory: Branch = { directory: entry, entries: undefined, next: 0 };
      left.push(directory);
      return directory;
    });
    for (const directory of left.reverse()) this.#open.push(directory);
  }

  /** Fewer per task when few are left, so that all workers get some. */
  #takeOpen(): Branch[] {
    const fair = Math.ceil(this.#open.length / (2 * this.#pool.size));
    const taken = this.#open.splice(-Math.min(fair, MAX_DIRECTORIES));
    return taken.sort((a, b) => (a.directory < b.directory ? -1 : 1));
  }

  /** Takes results in path order, up to the first directory that is not listed yet. */
  #advance(): void {
    for (let branch = this.#trail.at(-1); branch?.entries; branch = this.#trail.at(-1)) {
      const entry = branch.entries[branch.next++];
      if (entry === undefined) this.#trail.pop();
      else if (typeof entry !== "string") this.#trail.push(entry);
      else if (this.#paths.length < this.#query.limit && !this.#isFull) this.#take(entry);
    }
  }

  #take(path: string): void {
    this.#characters += path.length + 1;
    if (this.#characters > this.#query.maxCharacters) this.#isFull = true;
    else this.#paths.push(path);
  }
}
