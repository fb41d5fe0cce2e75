import { startRun } from "@agent/durable";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { enterDirectory } from "../../settings/workingDirectory.js";
import { directoryLabel, TASK, type TaskInput } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { followRun } from "./follow.js";
import { titleOf } from "./text.js";

export interface StartFlags extends EngineFlags {
  readonly cwd?: string;
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
  const priority = Number(flags.priority ?? 0);
  const labels = [...(flags.label ?? []), ...(flags.anywhere ? [] : [directoryLabel()])];
  return await withEngine(flags, async (engine) => {
    const input: TaskInput = { task };
    const id = await startRun(engine, { name: TASK, version: readVersion() }, input, {
      labels,
      priority,
      title: titleOf(task),
      // Pipelines and instrumented programs pass their current trace in this variable.
      trace: process.env.TRACEPARENT || undefined,
      ...(flags.id !== undefined && { id: flags.id }),
      ...(flags.tenant !== undefined && { tenant: flags.tenant }),
    });
    if (flags.follow) return await followRun(engine, id, { json: flags.json ?? false });
    if (flags.json) print(`${JSON.stringify({ v: 1, id })}\n`);
    else {
      printLine(id);
      note("Queued. Work it off: agent runs work. See it: agent runs follow ID");
    }
    return EXIT.done;
  });
}
