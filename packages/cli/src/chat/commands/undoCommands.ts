import { BUSY, type CommandContext, type SlashCommand } from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import { moveChanges } from "../../undo/moveChanges.js";

/** Commands that revert the file changes of messages. */
export function undoCommands({ undo }: Pick<AssembledAgent, "undo">): Readonly<Record<string, SlashCommand>> {
  return {
    "/undo": {
      usage: "/undo",
      help: "revert the file changes of the last message",
      run: (_argument, context) => move("undo", undo, context),
    },
    "/redo": {
      usage: "/redo",
      help: "reapply the changes that /undo reverted",
      run: (_argument, context) => move("redo", undo, context),
    },
    "/diff": {
      usage: "/diff",
      help: "show what this session changed in files",
      run: async (_argument, { view: { style } }) => {
        const log = undo();
        if (!log) return [NOT_KEPT];
        const { sessionDiff } = await import("../../undo/sessionDiff.js");
        return sessionDiff(await log.changedFiles(), process.cwd(), style);
      },
    },
  };
}

const NOT_KEPT = "Changes are not tracked, because this conversation is not saved (--no-session).";

async function move(
  direction: "undo" | "redo",
  undo: AssembledAgent["undo"],
  { busy, tellModel }: CommandContext,
): Promise<readonly string[]> {
  if (busy()) return [BUSY];
  const log = undo();
  if (!log) return [NOT_KEPT];
  const { lines, told } = await moveChanges(log, direction, process.cwd());
  if (told !== undefined) tellModel(told);
  return lines;
}
