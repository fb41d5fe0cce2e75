import { type SlashCommand, sendMade } from "@agent/terminal/host";
import { expandOwnCommand, type OwnCommand } from "../../instructions/ownCommands.js";

/** The commands and skills of the user and the project. The first of a name wins. */
export function ownSlashCommands(commands: readonly OwnCommand[]): Readonly<Record<string, SlashCommand>> {
  return Object.fromEntries(
    commands.toReversed().map((command) => [
      `/${command.name}`,
      {
        usage: `/${command.name} [TEXT]`,
        help: command.description,
        run: (argument, { send }) => {
          sendMade(command.name, argument, expandOwnCommand(command, argument), send);
          return [];
        },
      } satisfies SlashCommand,
    ]),
  );
}
