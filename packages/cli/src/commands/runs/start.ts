import { startRun } from "@agent/durable";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { enterDirectory } from "../../settings/workingDirectory.js";
import { directoryLabel, TASK, type TaskInput } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { followRun } from "./follow.js";
import { stateText, titleOf } from "./text.js";

const MAX_PRIORITY = 1000;

export interface StartFlags extends EngineFlags {
  readonly cwd?: string;
  readonly title?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly label?: readonly string[];
  readonly priority?: string;
  readonly anywhere?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** `agent runs start`: queues a task, and with `--follow` shows it until it ends. */
export async function startCommand(words: readonly string[], flags: StartFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const task = words.join(" ").trim();
  if (task === "") throw new CliError('There is no task. Say what to do: agent runs start "run the checks"');
  const priority = parsePriority(flags.priority ?? "0");
  const labels = [...(flags.label ?? []), ...(flags.anywhere ? [] : [directoryLabel()])];
  return await withEngine(flags, async (engine) => {
    const input: TaskInput = { task };
    const tenant = flags.tenant ?? "default";
    const existing = flags.id === undefined ? undefined : await engine.forTenant(tenant).get(flags.id);
    const id = await startRun(engine, { name: TASK, version: readVersion() }, input, {
      labels,
      priority,
      title: titleOf(flags.title ?? task),
      // Pipelines and instrumented programs pass their current trace in this variable.
      trace: process.env.TRACEPARENT || undefined,
      tenant,
      ...(flags.id !== undefined && { id: flags.id }),
    });
    if (flags.follow) return await followRun(engine, id, { json: flags.json ?? false });
    if (flags.json) print(`${JSON.stringify({ v: 1, id })}\n`);
    else {
      printLine(id);
      if (existing) note(`There is a run with this id already: ${stateText(existing)}`);
      else note(`Queued. Start a worker: agent runs work. See what it does: agent runs follow ${id}`);
    }
    return EXIT.done;
  });
}

function parsePriority(text: string): number {
  const priority = Number(text);
  if (text.trim() !== "" && Number.isInteger(priority) && Math.abs(priority) <= MAX_PRIORITY) return priority;
  throw new CliError(
    `--priority must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}, got "${text}".`,
  );
}
