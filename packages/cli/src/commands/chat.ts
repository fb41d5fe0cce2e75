import { type StartOptions, startChat } from "../chat/startChat.js";
import type { ExitCode } from "../process/exitCodes.js";
import type { RunFlags } from "./run.js";

/** `agent` without a task: a chat. The first prompt waits for no setting, no tool and no model. */
export async function chatCommand(flags: RunFlags, options: Omit<StartOptions, "record">): Promise<ExitCode> {
  return await startChat({ ...options, record: flags.session !== false }, async (aside) => {
    const { rememberScreenReader } = await import("../process/screenReader.js");
    const { loadRunSettings, mayUseInstructions } = await import("./runSettings.js");
    const loaded = await loadRunSettings(flags, aside);
    const changed = flags.config === false ? undefined : rememberScreenReader(loaded.settings.screenReader);
    return {
      loaded,
      instructions: await mayUseInstructions(flags, loaded, false, aside),
      notes: changed === undefined ? [] : [changed],
    };
  });
}
