import { canAsk } from "../ask.js";
import { compose } from "../compose.js";
import type { ExitCode } from "../exitCodes.js";
import { note } from "../output.js";
import type { LoadedSettings } from "../settings.js";
import { askOnTerminal, refuseWithoutTerminal } from "./approval.js";
import { runOnce } from "./once.js";
import type { Reporter } from "./reporters.js";
import { readTask } from "./task.js";

export interface TaskOptions {
  readonly resume: string | true | undefined;
  readonly keepSession: boolean;
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
}

/** One task, given in words or on standard input. */
export async function runTask(
  words: readonly string[],
  loaded: LoadedSettings,
  { resume, keepSession, reporter, timeoutMs }: TaskOptions,
): Promise<ExitCode> {
  const task = await readTask(words);
  const approve = canAsk() ? askOnTerminal() : refuseWithoutTerminal();
  const { agent, chosen, problems, jobs, sessionFile, keep } = await compose(loaded, resume, approve);
  for (const problem of problems) note(`agent: ${problem}`);
  return await runOnce(agent, task, {
    reporter,
    timeoutMs,
    info: {
      model: chosen.model,
      provider: chosen.kind,
      session: keepSession ? sessionFile : undefined,
    },
    jobs,
    keep: async () => {
      if (keepSession) await keep();
    },
  });
}
