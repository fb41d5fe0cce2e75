import type { Content } from "@agent/core";
import { errorMessage, escapeInvisible, quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine } from "@agent/internal";
import { commandMessage } from "../display/addedParts.js";
import type { MenuItem } from "../input/menu.js";
import { wrapWords } from "../text/width.js";
import type { CommandContext, SlashCommand } from "./context.js";
import { CONVERSATION_COMMANDS } from "./conversationCommands.js";
import { TOOL_COMMANDS } from "./toolCommands.js";

const NAME_COLUMN = 23;

const FIRST: Readonly<Record<string, SlashCommand>> = {
  "/help": {
    usage: "/help",
    help: "list the commands and keys",
    run: (_argument, context) => helpLines(context),
  },
  ...CONVERSATION_COMMANDS,
};

const QUIT = "/quit";
const LAST: Readonly<Record<string, SlashCommand>> = {
  [QUIT]: {
    usage: "/quit",
    help: "quit; Ctrl+D does the same",
    run: (_argument, { quit }) => {
      quit();
      return [];
    },
  },
};

/** The commands of every chat. */
export const COMMANDS: Readonly<Record<string, SlashCommand>> = { ...FIRST, ...TOOL_COMMANDS, ...LAST };

/** Aliases from other agents. They work here too, but are not listed. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["/exit", "/quit"],
  ["/new", "/clear"],
]);

/** Runs a line that starts with a slash and resolves to its output. Never rejects. */
async function runSlashCommand(input: string, context: CommandContext): Promise<readonly string[]> {
  const [, name = "", argument = ""] = /^(\S+)\s*(.*)$/s.exec(input.trim()) ?? [];
  const commands = allCommands(context);
  const command = commands.get(name) ?? commands.get(OTHER_NAMES.get(name) ?? "");
  if (!command) {
    const hint = didYouMean(name, commands.keys(), { otherwise: "/help lists the commands." });
    return [`There is no command ${quote(name)}. ${hint}`];
  }
  try {
    return await command.run(argument.trim(), context);
  } catch (error) {
    return escapeInvisible(errorMessage(error)).split("\n");
  }
}

/** Whether a line is meant as a command. A path, such as `/etc/hosts is empty`, is a message. */
function isSlashCommand(input: string, context: CommandContext): boolean {
  const name = /^\/[\w:-]*(?=\s|$)/.exec(input)?.[0];
  if (name === undefined) return false;
  // A known command may be followed by several lines: the user's own commands accept any text.
  return allCommands(context).has(name) || (/^\/[a-z]*$/i.test(name) && !input.includes("\n"));
}

/** The completions after the given words of a command line. Never rejects. */
async function completeSlashCommand(
  before: readonly string[],
  context: CommandContext,
): Promise<readonly string[] | undefined> {
  const [name] = before;
  const commands = allCommands(context);
  if (name === undefined) return [...commands.keys()];
  const command = commands.get(name);
  try {
    return command && ((await command.words?.(context, before)) ?? []);
  } catch {
    // The server does not answer: offer no completions.
    return [];
  }
}

/** All commands for a list. The value of a command that takes an argument ends with a space. */
function commandItems(context: CommandContext): MenuItem[] {
  return [...allCommands(context)].map(([name, { usage, help }]) => ({
    value: usage.includes(" ") && !usage.includes(" [") ? `${name} ` : name,
    label: usage,
    detail: help,
  }));
}

/**
 * The commands in the order of `/help`: conversation, host, tools, packs, the user's and the project's own, and
 * `/quit`. The first of a name wins, but the host may replace ours. None can use an alias of a built-in command: a user
 * who types `/exit` wants to quit.
 */
function allCommands(context: CommandContext): ReadonlyMap<string, SlashCommand> {
  const host = context.options.commands;
  const commands = new Map(Object.entries({ ...FIRST, ...host, ...TOOL_COMMANDS, ...LAST, ...host }));
  const add = (name: string, command: SlashCommand): void => {
    if (!commands.has(name) && !OTHER_NAMES.has(name)) commands.set(name, command);
  };
  const { services } = context.agent.registry;
  services.refresh();
  for (const command of services.commands) {
    add(`/${command.name}`, {
      usage: `/${command.name} [TEXT]`,
      help: command.description,
      run: async (argument, { send }) => {
        const result = await command.run(argument, new AbortController().signal);
        if ("show" in result) return escapeInvisible(result.show).split("\n");
        sendMade(command.name, argument, result.send, send);
        return [];
      },
    });
  }
  for (const [name, command] of Object.entries(context.options.ownCommands ?? {})) add(name, command);
  const quit = commands.get(QUIT);
  commands.delete(QUIT);
  return quit ? commands.set(QUIT, quit) : commands;
}

/** Sends the message of a command, shown as the command. */
export function sendMade(name: string, argument: string, made: Content, send: CommandContext["send"]): void {
  send(commandMessage(name, argument, made), `/${name} ${argument}`.trim());
}

function helpLines(context: CommandContext): string[] {
  const { columns } = context.view;
  // In a narrow window the text is on the rows below its name.
  const isNarrow = columns < 3 * NAME_COLUMN;
  const row = (name: string, text: string): string[] =>
    isNarrow
      ? [`  ${escapeToLine(name)}`, ...wrapWords(`    ${escapeToLine(text)}`, columns, 4)]
      : wrapWords(
          `  ${escapeToLine(name).padEnd(NAME_COLUMN)}  ${escapeToLine(text)}`,
          columns,
          NAME_COLUMN + 4,
        );
  return [
    ...[...allCommands(context).values()].flatMap(({ usage, help }) => row(usage, help)),
    "",
    ...context.view.keys.flatMap(([keys, does]) => row(keys, does)),
  ];
}

/** The result of handling a line that starts with a slash. */
export const slashCommands = { isSlashCommand, runSlashCommand, completeSlashCommand, commandItems };
