import { type SlashCommand, sendMade } from "@agent/terminal/host";
import { expandOwnCommand, type OwnCommand } from "../../instructions/ownCommands.js";

const INIT = `Write AGENTS.md in the root of this project: what an agent needs to know to work on it.
First look at the project: its manifest and build files, README, CI configuration, folders, a few typical source and test files, and instructions for other tools (CLAUDE.md, .cursorrules, .github/copilot-instructions.md), if they are there.
Then write, in at most 60 lines:
- what the project is, in two sentences
- the commands to install, build, run, lint and test it, and to run a single test
- where things are: the main folders and what belongs in them
- conventions and pitfalls that cannot be seen at a glance
Write only what you have seen in files. No general advice. If AGENTS.md exists, keep what is right in it and change the rest.`;

/** The command that lets the model write AGENTS.md. */
export const INIT_COMMAND: Readonly<Record<string, SlashCommand>> = {
  "/init": {
    usage: "/init [WISHES]",
    help: "let the model look at the project and write AGENTS.md",
    run: (argument, { send }) => {
      sendMade("init", argument, argument === "" ? INIT : `${INIT}\n\nThe user wishes: ${argument}`, send);
      return [];
    },
  },
};

/** The commands and skills of the user and the project. The first of a name counts. */
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
