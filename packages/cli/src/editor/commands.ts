import type { SessionCommand } from "@agent/acp";
import type { Content } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import type { CommandContext } from "@agent/terminal/host";
import { CallLog, ChatUsage, COMMANDS, commandMessage, PLAIN_STYLE } from "@agent/terminal/host";
import type { AssembledAgent } from "../assembly/assembleAgent.js";
import { chatOptions } from "../chat/prepareChat.js";
import { expandOwnCommand } from "../instructions/ownCommands.js";
import type { LoadedSettings } from "../settings/loadSettings.js";

/**
 * The chat commands that an editor implements itself, or that need a terminal. Sessions are opened, copied and closed
 * in the editor.
 */
const EDITORS_OWN: ReadonlySet<string> = new Set([
  "/clear",
  "/resume",
  "/fork",
  "/rewind",
  "/name",
  "/copy",
  "/expand",
  "/quit",
  "/help",
]);
const COLUMNS = 100;

export interface EditorCommands {
  readonly commands: readonly SessionCommand[];
  /** Counts calls and tokens, for `/status` and `/context`. */
  readonly see: (event: Parameters<CallLog["event"]>[0]) => void;
}

/** The chat commands that make sense in an editor, and those of the user and the project. */
export function editorCommands(
  assembled: AssembledAgent,
  loaded: LoadedSettings,
  tellModel: (text: string) => void,
): EditorCommands {
  const [log, usage] = [new CallLog(), new ChatUsage()];
  const context = commandContext(assembled, loaded, { log, usage, tellModel });
  const own = Object.entries({ ...COMMANDS, ...context.options.commands })
    .filter(([name]) => !EDITORS_OWN.has(name))
    .map(
      ([name, { usage: form, help, run }]): SessionCommand => ({
        name: name.slice(1),
        description: help,
        hint: form.slice(name.length).trim(),
        run: async (input, signal) => {
          // A command without its argument prints its choices.
          const choices: string[] = [];
          const pick: CommandContext["view"]["pick"] = async (title, items) => {
            const rows = items.map(({ label, detail }) => [label, detail].filter(Boolean).join("  "));
            choices.push(`${escapeToLine(title)}:`, ...rows.map((row) => `  ${escapeToLine(row)}`));
            return undefined;
          };
          const view = { ...context.view, pick };
          const lines = await run(input.trim(), { ...context, view, work: (_doing, work) => work(signal) });
          return { show: [...choices, ...lines].join("\n") };
        },
      }),
    );
  const names = new Set(own.map(({ name }) => name));
  const made = assembled.ownCommands
    .filter(({ name }) => !names.has(name))
    .map(
      (command): SessionCommand => ({
        name: command.name,
        description: command.description,
        run: async (input): Promise<{ send: Content }> => ({
          send: commandMessage(command.name, input, expandOwnCommand(command, input)),
        }),
      }),
    );
  return {
    commands: [...own, ...made],
    see: (event) => {
      log.event(event);
      usage.see(event);
    },
  };
}

function commandContext(
  assembled: AssembledAgent,
  loaded: LoadedSettings,
  given: Pick<CommandContext, "log" | "usage" | "tellModel">,
): CommandContext {
  const { agent } = assembled;
  return {
    ...given,
    agent,
    permissions: assembled.permissions,
    options: chatOptions(assembled, loaded),
    view: {
      style: PLAIN_STYLE,
      columns: COLUMNS,
      keys: [],
      pick: async () => undefined,
      expandable: [],
      expand: () => undefined,
      giveBack: () => undefined,
      copy: () => undefined,
    },
    // A session has one message at a time, and a command is one.
    busy: () => false,
    stopTurn: () => undefined,
    quit: () => undefined,
    send: () => undefined,
    work: (_doing, run) => run(new AbortController().signal),
    updateStatus: () => undefined,
    switched: new Map(),
    exported: new Set(),
  };
}
