import type { CommandContext } from "../commands/context.js";
import type { Status } from "../screen/statusRow.js";
import { runningJobs } from "../screen/statusRow.js";
import type { ChatSettings } from "./types.js";
import type { UsageMeter } from "./usageMeter.js";

/** The current content of the status row. */
export function currentStatus(
  { settings, commands }: { readonly settings: ChatSettings; readonly commands: CommandContext },
  usage: UsageMeter,
): Status {
  const room = settings.contextTokens?.();
  return {
    mode: settings.permissions.mode,
    model: commands.model.name,
    effort: commands.agent.effort,
    directory: process.cwd(),
    tokens: usage.tokens,
    jobs: runningJobs(settings.jobs).length,
    ...(room !== undefined && usage.size > 0 && { contextShare: usage.size / room }),
    ...(usage.cost !== undefined && { cost: usage.cost, costIsEstimate: usage.costIsEstimate }),
  };
}
