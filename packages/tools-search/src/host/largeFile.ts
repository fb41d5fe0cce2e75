import type { LargeFile, RangeTask, Reply, Row, Scope, TextQuery } from "../protocol.js";
import type { Job } from "./pool/pool.js";

const RANGE_BYTES = 16 * 1024 * 1024;

type Ranged = Extract<Reply, { kind: "ranged" }>;

/** The merged results of all ranges of a file. */
type LargeFileScan = Pick<Ranged, "failed" | "inPieces" | "matches" | "rows">;

/** Searches a large file in ranges, which all workers share. Each counts lines from its own start. */
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
      // Read when the task starts: once the first ranges have given all that is wanted, the others only count matches.
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
    // An earlier range is not finished: how many results of this one are wanted is not known yet.
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
