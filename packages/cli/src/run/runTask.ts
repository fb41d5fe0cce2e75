import { compose } from "../assembly/assembleAgent.js";
import { canAsk } from "../process/ask.js";
import type { ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { askOnTerminal, refuseWithoutTerminal } from "./approval.js";
import { runOnce } from "./once.js";
import type { Reporter } from "./reporters.js";
import { readTask } from "./task.js";

export interface TaskOptions {
  readonly resume: string | true | undefined;
  readonly keepSession: boolean;
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  /** Says nothing on standard error but what is wrong. */
  readonly quiet: boolean;
}

/** One task, given in words or on standard input. */
export async function runTask(
  words: readonly string[],
  loaded: LoadedSettings,
  { resume, keepSession, reporter, timeoutMs, quiet }: TaskOptions,
): Promise<ExitCode> {
  const task = await readTask(words);
  const approval = canAsk() ? askOnTerminal() : refuseWithoutTerminal();
  const composition = await compose(loaded, resume, approval.approve);
  const { agent, toolbox, chosen, problems, jobs, sessionFile, keep } = composition;
  for (const problem of problems) note(`agent: ${problem}`);
  if (!quiet) note(`agent: ${chosen.description}`);
  return await runOnce(agent, task, {
    reporter,
    timeoutMs,
    asks: (name) => toolbox.confirm.has(name) && !approval.isSettled(name),
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
