import { startRun } from "@agent/durable";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { positiveNumber } from "../../settings/environment.js";
import { enterDirectory } from "../../settings/workingDirectory.js";
import { directoryLabel, TASK, type TaskInput } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { followRun } from "./follow.js";
import { parseAge, stateText, titleOf } from "./text.js";

const MAX_PRIORITY = 1000;

export interface StartFlags extends EngineFlags {
  readonly cwd?: string;
  readonly title?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly label?: readonly string[];
  readonly priority?: string;
  readonly anywhere?: boolean;
  readonly delay?: string;
  readonly at?: string;
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** `agent runs start`: queues a task, and with `--follow` shows it until it ends. */
export async function startCommand(words: readonly string[], flags: StartFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const task = words.join(" ").trim();
  if (task === "") throw new CliError('There is no task. Say what to do: agent runs start "run the checks"');
  const priority = parsePriority(flags.priority ?? "0");
  const startAt = parseStart(flags);
  const { maxCost, maxTokens } = flags;
  const limits = {
    ...(maxCost !== undefined && { maxCost: positiveNumber(maxCost, "--max-cost") }),
    ...(maxTokens !== undefined && { maxTokens: positiveNumber(maxTokens, "--max-tokens") }),
  };
  const labels = [...(flags.label ?? []), ...(flags.anywhere ? [] : [directoryLabel()])];
  return await withEngine(flags, async (engine) => {
    const input: TaskInput = { task, ...limits };
    const tenant = flags.tenant ?? "default";
    const existing = flags.id === undefined ? undefined : await engine.forTenant(tenant).get(flags.id);
    const id = await startRun(engine, { name: TASK, version: readVersion() }, input, {
      labels,
      priority,
      title: titleOf(flags.title ?? task),
      // Pipelines and instrumented programs pass their current trace in this variable.
      trace: process.env.TRACEPARENT || undefined,
      tenant,
      ...(startAt !== undefined && { startAt }),
      ...(flags.id !== undefined && { id: flags.id }),
    });
    if (flags.follow) return await followRun(engine, id, { json: flags.json ?? false });
    if (flags.json) print(`${JSON.stringify({ v: 1, id })}\n`);
    else {
      printLine(id);
      if (existing) note(`There is a run with this id already: ${stateText(existing)}`);
      else if (startAt !== undefined) note(`It starts at ${new Date(startAt).toISOString()}.`);
      else note(`Queued. Start a worker: agent runs work. See what it does: agent runs follow ${id}`);
    }
    return EXIT.done;
  });
}

function parseStart({ delay, at }: StartFlags): number | undefined {
  if (delay !== undefined && at !== undefined) throw new CliError("Give --delay or --at, not both.");
  if (delay !== undefined) return Date.now() + parseAge(delay, "--delay");
  if (at === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d/.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time)) throw new CliError(`--at must be a time such as 2026-03-01T09:00, got "${at}".`);
  return time;
}

function parsePriority(text: string): number {
  const priority = Number(text);
  if (text.trim() !== "" && Number.isInteger(priority) && Math.abs(priority) <= MAX_PRIORITY) return priority;
  throw new CliError(
    `--priority must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}, got "${text}".`,
  );
}
