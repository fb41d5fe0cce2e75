import type { PackCommand } from "@agent/core";
import type { AssembledAgent } from "../assembly/assembleAgent.js";
import { expandOwnCommand } from "../assembly/ownCommands.js";
import { commandMessage } from "../display/addedParts.js";
import { moveChanges } from "../undo/moveChanges.js";

/** The commands of the chat that make sense in an editor, and those of the person and the project. */
export function editorCommands(
  { agent, undo, ownCommands }: Pick<AssembledAgent, "agent" | "undo" | "ownCommands">,
  tellModel: (text: string) => void,
): PackCommand[] {
  const move = async (direction: "undo" | "redo") => {
    const log = undo();
    if (!log) return { show: "Changes are not remembered in this session." };
    const { lines, told } = await moveChanges(log, direction, process.cwd());
    if (told !== undefined) tellModel(told);
    return { show: lines.join("\n") };
  };
  const own: PackCommand[] = [
    { name: "undo", description: "Take back the file changes of the last message", run: () => move("undo") },
    { name: "redo", description: "Make the changes again that /undo took back", run: () => move("redo") },
    {
      name: "compact",
      description: "Replace older messages by a summary",
      run: async (focus, signal) => ({
        show: (await agent.compact({ signal, focus }))
          ? "Older messages are a summary now."
          : "There is nothing to sum up yet.",
      }),
    },
  ];
  const names = new Set(own.map(({ name }) => name));
  return [
    ...own,
    ...ownCommands
      .filter(({ name }) => !names.has(name))
      .map((command) => ({
        name: command.name,
        description: command.description,
        run: async (input: string) => ({
          send: commandMessage(command.name, input, expandOwnCommand(command, input)),
        }),
      })),
  ];
}
