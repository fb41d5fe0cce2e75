import {
  addNotSearched,
  addTally,
  emptyTally,
  type FileBatch,
  type FileHits,
  type LargeFile,
  leastCharacters,
  type RangeTask,
  type Reply,
  type Row,
  type ScanTask,
  type Scope,
  type Tally,
  type TextQuery,
  type WalkTask,
} from "../protocol.js";
import { CountedEnoughError, type SearchLimits, type Stopped, withLimits } from "./limits.js";
import type { Job, Pool } from "./pool/pool.js";

export interface TextSearch {
  readonly query: TextQuery;
  readonly walk: WalkTask;
  readonly maxResults: number;
  /** How long matches are still counted once all requested results were found. */
  readonly countOnMs: number;
}

export interface TextResult {
  /** The files with matches, in path order, up to the limit. */
  readonly files: readonly FileHits[];
  readonly matches: number;
  readonly matchedFiles: number;
  readonly searched: number;
  readonly tally: Tally;
  /** Problems with single path arguments. */
  readonly problems: readonly string[];
  readonly stopped: Stopped | undefined;
}

type Scanned = Extract<Reply, { kind: "scanned" }>;

/**
 * Searches the text of files. Batches are searched in any order and merged in path order. Results found before the
 * deadline are returned with `stopped`; an abort rejects with the signal's reason.
 */
export async function searchText(pool: Pool, search: TextSearch, limits: SearchLimits): Promise<TextResult> {
  const progress = new TextProgress(pool, search);
  try {
    const stopped = await withLimits(progress.job, limits, progress.run());
    return progress.result(stopped);
  } finally {
    progress.dispose();
  }
}

/** A text search in progress. */
class TextProgress {
  readonly job: Job;
  readonly #tally = emptyTally();
  readonly #batches: (FileHits[] | undefined)[] = [];
  #problems: readonly string[] = [];
  #searched = 0;
  #matches = 0;
  #matchedFiles = 0;
  /** The number of complete batches at the start, and how many of the requested results they contain. */
  #complete = 0;
  #collected = 0;
  #characters = 0;
  #countingEnds: NodeJS.Timeout | undefined;

  readonly #pool: Pool;
  readonly #search: TextSearch;

  constructor(pool: Pool, search: TextSearch) {
    this.#pool = pool;
    this.#search = search;
    this.job = pool.createJob();
  }

  async run(): Promise<void> {
    const scans: Promise<void>[] = [];
    let failed: (error: Error) => void = () => undefined;
    const failure = new Promise<never>((_, reject) => {
      failed = reject;
    });
    const walked = this.job.run(this.#search.walk, (reply) => {
      if (reply.kind === "batch") {
        const scan = this.#scan(reply.batch, this.#batches.push(undefined) - 1);
        scan.catch(failed);
        scans.push(scan);
      } else if (reply.kind === "walked") {
        addTally(this.#tally, reply.tally);
        this.#problems = reply.problems;
      }
    });
    await Promise.race([failure, walked.then(() => Promise.all(scans))]);
  }

  dispose(): void {
    clearTimeout(this.#countingEnds);
  }

  result(stopped: Stopped | undefined): TextResult {
    return {
      files: this.#firstFiles(),
      matches: this.#matches,
      matchedFiles: this.#matchedFiles,
      searched: this.#searched,
      tally: this.#tally,
      problems: this.#problems,
      stopped,
    };
  }

  async #scan(batch: FileBatch, index: number): Promise<void> {
    const { query } = this.#search;
    let scanned: Scanned | undefined;
    // The budget is read when the task starts, not when it is queued.
    const budget = (): number => this.#search.maxResults - this.#collected;
    const task: ScanTask = {
      kind: "scan",
      query,
      scope: this.#search.walk.scope,
      batch,
      get budget() {
        return budget();
      },
      splitLarge: this.#pool.size > 1 && query.context === 0 && query.mode !== "files",
    };
    await this.job.run(task, (reply) => {
      if (reply.kind === "scanned") scanned = reply;
    });
    if (scanned === undefined) throw new Error("A part of the search ended without a result.");
    addTally(this.#tally, scanned.tally);
    this.#searched += scanned.searched;
    this.#matches += scanned.matches;
    this.#matchedFiles += scanned.matchedFiles;
    const large = await Promise.all(scanned.large.map((file) => this.#scanLarge(file, batch.named)));
    this.#store(index, [...scanned.hits, ...large.filter((hits) => hits !== undefined)]);
  }

  async #scanLarge(file: LargeFile, named: boolean): Promise<FileHits | undefined> {
    const { query, maxResults } = this.#search;
    const room = Math.ceil(query.maxCharacters / leastCharacters(file.label, query.mode));
    const { failed, inPieces, matches, rows } = await scanInRanges(this.job, file, {
      query,
      scope: this.#search.walk.scope,
      maxResults: Math.min(maxResults, room),
      named,
    });
    if (failed) {
      addNotSearched(this.#tally, file.label, failed, named);
      return undefined;
    }
    this.#searched++;
    this.#matches += matches;
    if (inPieces) this.#tally.pieces++;
    if (matches === 0) return undefined;
    this.#matchedFiles++;
    return { index: file.index, label: file.label, matches, rows };
  }

  #store(index: number, hits: FileHits[]): void {
    this.#batches[index] = hits.sort((a, b) => a.index - b.index);
    for (let batch = this.#batches[this.#complete]; batch; batch = this.#batches[++this.#complete]) {
      for (const file of batch) {
        const { mode } = this.#search.query;
        const least = leastCharacters(file.label, mode);
        this.#collected += mode === "lines" ? file.matches : 1;
        this.#characters += file.rows.reduce((sum, row) => sum + row.text.length + least, 0);
        if (mode !== "lines") this.#characters += least;
      }
    }
    const isFull = this.#characters >= this.#search.query.maxCharacters;
    this.#collected = isFull ? this.#search.maxResults : Math.min(this.#collected, this.#search.maxResults);
    if (this.#collected === this.#search.maxResults) this.#countOn();
  }

  /** All requested results are found: further matches are only counted, and only for `countOnMs`. */
  #countOn(): void {
    const { countOnMs } = this.#search;
    const stop = (): void => this.job.cancel(new CountedEnoughError());
    if (countOnMs === 0) stop();
    else this.#countingEnds ??= setTimeout(stop, countOnMs);
  }

  #firstFiles(): FileHits[] {
    const { query, maxResults } = this.#search;
    const files: FileHits[] = [];
    let left = maxResults;
    for (const file of this.#batches.flatMap((batch) => batch ?? [])) {
      if (left === 0) break;
      const rows = firstRows(file.rows, left, query.context);
      files.push({ ...file, rows });
      left -= query.mode === "lines" ? rows.filter((row) => row.match).length : 1;
    }
    return files;
  }
}

/** The rows of the first `limit` matches, with the context after the last of them. */
function firstRows(rows: readonly Row[], limit: number, context: number): readonly Row[] {
  let matches = 0;
  let lastMatch = 0;
  for (const [index, row] of rows.entries()) {
    if (!row.match) continue;
    if (matches++ === limit) return rows.slice(0, index).filter((one) => one.line <= lastMatch + context);
    lastMatch = row.line;
  }
  return rows;
}

const RANGE_BYTES = 16 * 1024 * 1024;

type Ranged = Extract<Reply, { kind: "ranged" }>;

/** The merged results of all ranges of a file. */
type LargeFileScan = Pick<Ranged, "failed" | "inPieces" | "matches" | "rows">;

/** Searches a large file in ranges, which all workers share. Each range counts lines from its own start. */
export async function scanInRanges(
  job: Job,
  file: LargeFile,
  { query, scope, maxResults, named }: { query: TextQuery; scope: Scope; maxResults: number; named: boolean },
): Promise<LargeFileScan> {
  const wanted = query.mode === "lines" ? maxResults : 0;
  const ranges: Ranged[] = [];
  const runs: Promise<void>[] = [];
  for (let from = 0; from < file.size; from += RANGE_BYTES) {
    const place = runs.length;
    const to = Math.min(file.size, from + RANGE_BYTES);
    const task: RangeTask = {
      ...{ kind: "range", query, scope, path: file.path, from, to, identity: file.identity, named },
      // Read when the task starts: once the first ranges have found all requested results, the others only count
      // matches.
      get budget() {
        return stillWanted(ranges, wanted);
      },
    };
    runs.push(
      job.run(task, (reply) => {
        if (reply.kind === "ranged") ranges[place] = reply;
      }),
    );
  }
  await Promise.all(runs);
  return joined(ranges, wanted);
}

function stillWanted(ranges: readonly Ranged[], wanted: number): number {
  let left = wanted;
  for (const range of ranges) {
    // An earlier range is not finished, so it is not known yet how many results of this one are needed.
    if (range === undefined) break;
    left -= range.rows.length;
  }
  return Math.max(0, left);
}

function joined(ranges: readonly Ranged[], wanted: number): LargeFileScan {
  const rows: Row[] = [];
  let matches = 0;
  let lines = 0;
  for (const range of ranges) {
    for (const row of range.rows) if (rows.length < wanted) rows.push({ ...row, line: row.line + lines });
    matches += range.matches;
    lines += range.lines;
  }
  return {
    failed: ranges.find((range) => range.failed !== undefined)?.failed,
    inPieces: ranges.some((range) => range.inPieces),
    matches,
    rows,
  };
}
