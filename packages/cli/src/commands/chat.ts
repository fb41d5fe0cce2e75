import { startChat } from "../chat/startChat.js";
import type { CrashGuard } from "../process/crash.js";
import type { ExitCode } from "../process/exitCodes.js";
import type { RunFlags } from "./run.js";

/** `agent` without a task: a chat. The first prompt waits for no setting, no tool and no model. */
export async function chatCommand(
  flags: RunFlags,
  resume: string | true | undefined,
  guard: CrashGuard,
): Promise<ExitCode> {
  const record = flags.session !== false;
  return await startChat({ resume, record, guard }, async (aside) => {
    const { loadRunSettings, mayUseInstructions } = await import("./runSettings.js");
    const loaded = await loadRunSettings(flags, aside);
    return { loaded, instructions: await mayUseInstructions(flags, false, aside) };
  });
}
