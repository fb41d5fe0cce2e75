import type { RunEngine } from "@agent/durable";
import { countOf } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print, printLine } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { withProgress } from "./progress.js";
import { parseAge, stateText, unknownRun } from "./text.js";

interface ChangeFlags extends EngineFlags {
  readonly json?: boolean;
}

/** `agent runs cancel`. */
export function cancelCommand(id: string, reason: string, flags: ChangeFlags): Promise<ExitCode> {
  return change(id, flags, "cancelled", (engine) => engine.cancel(id, reason));
}

/** `agent runs retry`. */
export function retryCommand(id: string, flags: ChangeFlags): Promise<ExitCode> {
  return change(id, flags, "queued", (engine) => engine.retry(id));
}

/** `agent runs prune`: removes runs that ended long ago. */
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
  id: string,
  flags: ChangeFlags,
  done: string,
  apply: (engine: RunEngine) => Promise<boolean>,
): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const run = await engine.get(id);
    if (!run) throw unknownRun(id);
    if (!(await apply(engine))) {
      throw new CliError(`Nothing to do: run ${id} is ${stateText(run)}.`, EXIT.refused);
    }
    if (flags.json) print(`${JSON.stringify({ v: 1, id, [done]: true })}\n`);
    else printLine(`${id}: ${done}`);
    return EXIT.done;
  });
}
