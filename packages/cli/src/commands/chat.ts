import { type StartOptions, startChat } from "../chat/startChat.js";
import type { ExitCode } from "../process/exitCodes.js";
import type { RunFlags } from "./run.js";

/** `agent` without a task: a chat. The first prompt waits for no setting, no tool and no model. */
export async function chatCommand(flags: RunFlags, options: Omit<StartOptions, "record">): Promise<ExitCode> {
  return await startChat({ ...options, record: flags.session !== false }, async (aside) => {
    const { loadRunSettings, mayUseInstructions } = await import("./runSettings.js");
    const loaded = await loadRunSettings(flags, aside);
    return { loaded, instructions: await mayUseInstructions(flags, false, aside) };
  });
}
