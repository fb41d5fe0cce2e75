import type { JsonSchema } from "@agent/core";
import { assembleAgent } from "../assembly/assembleAgent.js";
import { priceOf } from "../assembly/provider/price.js";
import { canAsk } from "../process/ask.js";
import type { CrashGuard } from "../process/crash.js";
import type { ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { askOnTerminal, refuseWithoutTerminal } from "./approval.js";
import { runOnce } from "./once.js";
import type { Reporter } from "./reporters.js";
import { readTask } from "./task.js";

export interface TaskOptions {
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  /** Says nothing on standard error but what is wrong. */
  readonly quiet: boolean;
  readonly guard: CrashGuard;
  /** The form the answer must have: a JSON Schema. */
  readonly output?: JsonSchema | undefined;
}

/** One task, given in words or on standard input. */
export async function runTask(
  words: readonly string[],
  loaded: LoadedSettings,
  { resume, record, reporter, timeoutMs, quiet, guard, output }: TaskOptions,
): Promise<ExitCode> {
  const task = await readTask(words);
  const { agent, chosen, problems, recording, dispose } = await assembleAgent(loaded, {
    resume,
    record,
    approve: canAsk() ? askOnTerminal : refuseWithoutTerminal,
    guard,
    onProblem: (message) => note(`agent: ${message}`),
  });
  for (const problem of problems) note(`agent: ${problem}`);
  if (!quiet) note(`agent: ${chosen.description}`);
  return await runOnce(agent, task, {
    reporter,
    timeoutMs,
    output,
    info: {
      model: chosen.model,
      provider: chosen.kind,
      session: recording?.file,
      price: priceOf(chosen, loaded.settings.prices),
    },
    dispose,
  });
}
