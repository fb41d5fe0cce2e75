import type { RunEngine, RunQuery, RunSummary } from "@agent/durable";
import { countOf } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print, printLine } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { withProgress } from "./progress.js";
import { findRun, parseAge, stateText } from "./text.js";

interface ChangeFlags extends EngineFlags {
  readonly json?: boolean;
}

export interface CancelFlags extends ChangeFlags {
  readonly state?: string;
  readonly tenant?: string;
  readonly label?: string;
  readonly text?: string;
}

const OPEN = ["queued", "running", "waiting"] as const;
const BULK_PAGE = 500;

/** `agent runs cancel`: cancels one run, or with filters all matching ones that have not finished. */
export async function cancelCommand(
  id: string | undefined,
  reason: string,
  flags: CancelFlags,
): Promise<ExitCode> {
  const { state, tenant, label, text } = flags;
  const filters = [state, tenant, label, text].filter((one) => one !== undefined);
  if (id !== undefined && filters.length > 0)
    throw new CliError("Give the id of a run or filters, not both.");
  if (id !== undefined)
    return await change(id, flags, "cancelled", (engine, run) => engine.cancel(run, reason));
  if (filters.length === 0) throw new CliError("Give the id of a run, or filters such as --tenant.");
  const states = OPEN.filter((one) => state === undefined || one === state);
  if (states.length === 0) throw new CliError(`--state must be one of ${OPEN.join(", ")}, got "${state}".`);
  return await withEngine(flags, async (engine) => {
    const query = {
      ...(tenant !== undefined && { tenant }),
      ...(label !== undefined && { label }),
      ...(text !== undefined && { text }),
    };
    const ids = await withProgress("Cancelling runs", async () => {
      const cancelled: string[] = [];
      for (const one of states) {
        for await (const run of allRuns(engine, { ...query, state: one })) {
          if (await engine.cancel(run.id, reason)) cancelled.push(run.id);
        }
      }
      return cancelled;
    });
    if (flags.json) print(`${JSON.stringify({ v: 1, cancelled: ids })}\n`);
    else printLine(`${countOf(ids.length, "run")} cancelled.`);
    return EXIT.done;
  });
}

/** All matching runs, page by page, read before any of them is changed. */
async function* allRuns(engine: RunEngine, query: RunQuery): AsyncGenerator<RunSummary> {
  const pages: RunSummary[] = [];
  for (let after: string | undefined; ; ) {
    const page = await engine.list({ ...query, limit: BULK_PAGE, ...(after !== undefined && { after }) });
    pages.push(...page);
    after = page.at(-1)?.id;
    if (page.length < BULK_PAGE || after === undefined) break;
  }
  yield* pages;
}

interface RetryFlags extends ChangeFlags {
  readonly failed?: boolean;
  readonly since?: string;
  readonly tenant?: string;
}

/** `agent runs retry`: retries one run, or with `--failed` all that failed. */
export async function retryCommand(id: string | undefined, flags: RetryFlags): Promise<ExitCode> {
  const { failed, since, tenant } = flags;
  if (id !== undefined && failed) throw new CliError("Give the id of a run or --failed, not both.");
  if (id !== undefined && (since ?? tenant) !== undefined)
    throw new CliError("--since and --tenant need --failed.");
  if (id !== undefined) return await change(id, flags, "queued", (engine, run) => engine.retry(run));
  if (!failed) throw new CliError("Give the id of a run, or --failed for all that failed.");
  const age = since === undefined ? undefined : parseAge(since, "--since");
  return await withEngine(flags, async (engine) => {
    const endedAfter = age === undefined ? 0 : Date.now() - age;
    const ids = await withProgress("Queuing runs", () => retryFailed(engine, endedAfter, tenant));
    if (flags.json) print(`${JSON.stringify({ v: 1, queued: ids })}\n`);
    else printLine(`${countOf(ids.length, "run")} queued.`);
    return EXIT.done;
  });
}

async function retryFailed(
  engine: RunEngine,
  endedAfter: number,
  tenant: string | undefined,
): Promise<readonly string[]> {
  const query = tenant === undefined ? {} : { tenant };
  const counts = await engine.count(query);
  const queued: string[] = [];
  for (const state of ["failed", "set_aside"] as const) {
    if (counts[state] === 0) continue;
    for (const { id, endedAt = 0 } of await engine.list({ ...query, state, limit: counts[state] })) {
      if (endedAt >= endedAfter && (await engine.retry(id))) queued.push(id);
    }
  }
  return queued;
}

/** `agent runs prune`: removes runs that finished long ago. */
export async function pruneCommand(flags: ChangeFlags & { readonly older?: string }): Promise<ExitCode> {
  const age = parseAge(flags.older ?? "30d", "--older");
  return await withEngine(flags, async (engine) => {
    const removed = await withProgress("Removing runs", () => engine.prune(Date.now() - age));
    if (flags.json) print(`${JSON.stringify({ v: 1, removed })}\n`);
    else printLine(`${countOf(removed, "run")} removed.`);
    return EXIT.done;
  });
}

async function change(
  start: string,
  flags: ChangeFlags,
  done: string,
  apply: (engine: RunEngine, id: string) => Promise<boolean>,
): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const run = await findRun(engine, start);
    const { id } = run;
    if (!(await apply(engine, id))) {
      throw new CliError(`Nothing to do: run ${id} is ${stateText(run)}.`, EXIT.refused);
    }
    if (flags.json) print(`${JSON.stringify({ v: 1, id, [done]: true })}\n`);
    else printLine(`${id}: ${done}`);
    return EXIT.done;
  });
}
