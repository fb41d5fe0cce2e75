import type { Agent } from "@agent/core";
import { errorMessage, escapeInvisible, escapeToLine, nearestMatch, quote } from "@agent/core/toolkit";
import type { CallLog } from "./callLog.js";
import { endableIds, statusLines } from "./status.js";
import { toolLines } from "./toolLines.js";
import type { ChatSettings } from "./types.js";

const DEFAULT_REASON = "saved by /save";

/** What the commands work on. */
export interface CommandContext {
  readonly agent: Agent;
  readonly settings: ChatSettings;
  readonly log: CallLog;
  readonly columns: () => number;
  /** The keys that work where the chat is shown, for `/help`. */
  readonly keys: readonly string[];
  /** Whether a message is being answered. */
  readonly busy: () => boolean;
  readonly stopTurn: () => void;
  readonly quit: () => void;
  readonly model: { name: string };
  /** Tools that were switched in this chat, for `/tools`. */
  readonly switched: Map<string, boolean>;
}

interface SlashCommand {
  readonly usage: string;
  readonly help: string;
  /** Words that can follow, for completion. */
  readonly words?: (context: CommandContext, before: readonly string[]) => readonly string[];
  /** Resolves to the lines to show. */
  readonly run: (argument: string, context: CommandContext) => Promise<readonly string[]> | readonly string[];
}

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/help": { usage: "/help", help: "this list", run: (_argument, { keys }) => helpLines(keys) },
  "/tools": {
    usage: "/tools",
    help: "the tools, whether they are on, and why",
    run: (_argument, { agent, settings, switched, columns }) =>
      toolLines(agent.registry.describeTools(), settings, switched, columns()),
  },
  "/enable": {
    usage: "/enable NAME",
    help: "let the model use a tool, in this chat",
    words: ({ agent }) => toolNames(agent, false),
    run: (name, context) => switchTool(name, true, context),
  },
  "/disable": {
    usage: "/disable NAME",
    help: "take a tool away from the model, in this chat",
    words: ({ agent }) => toolNames(agent, true),
    run: (name, context) => switchTool(name, false, context),
  },
  "/status": {
    usage: "/status [end ID]",
    help: "what runs, what runs in the background, what has ended; or end one",
    words: ({ log, settings }, before) => (before.length === 1 ? ["end"] : endableIds(log, settings.jobs)),
    run: status,
  },
  "/clear": { usage: "/clear", help: "start a new conversation; this one can be resumed", run: clear },
  "/save": {
    usage: "/save [REASON]",
    help: "save the conversation to its file",
    run: async (reason, { agent }) =>
      escapeInvisible(await agent.saveContext(reason || DEFAULT_REASON)).split("\n"),
  },
  "/model": { usage: "/model [NAME]", help: "which model answers; or switch to another", run: switchModel },
  "/quit": {
    usage: "/quit",
    help: "leave; Ctrl+D does the same",
    run: (_argument, { quit }) => {
      quit();
      return [];
    },
  },
};

/** Runs a line that starts with a slash and resolves to what it has to say. Never rejects. */
export async function runSlashCommand(input: string, context: CommandContext): Promise<readonly string[]> {
  const [, name = "", argument = ""] = /^(\S+)\s*(.*)$/s.exec(input.trim()) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    const nearest = nearestMatch(name, Object.keys(COMMANDS));
    const hint = nearest === undefined ? "/help lists the commands." : `Did you mean ${nearest}?`;
    return [`There is no command ${quote(name)}. ${hint}`];
  }
  try {
    return await command.run(argument.trim(), context);
  } catch (error) {
    return escapeInvisible(errorMessage(error)).split("\n");
  }
}

/** Whether a line is meant as a command. A path, such as `/etc/hosts is empty`, is a message. */
export function isSlashCommand(input: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(input) && !input.includes("\n");
}

/** What can follow the given words of a command line, for completion. */
export function completeSlashCommand(
  before: readonly string[],
  context: CommandContext,
): readonly string[] | undefined {
  const [name] = before;
  if (name === undefined) return Object.keys(COMMANDS);
  return Object.hasOwn(COMMANDS, name) ? (COMMANDS[name]?.words?.(context, before) ?? []) : undefined;
}

function helpLines(keys: readonly string[]): string[] {
  const commands = Object.values(COMMANDS).map(({ usage, help }) => `  ${usage.padEnd(18)}${help}`);
  return [...commands, "", ...keys.map((line) => `  ${line}`)];
}

function toolNames(agent: Agent, enabled: boolean): string[] {
  return agent.registry.getToolNames().filter((name) => agent.registry.isToolEnabled(name) === enabled);
}

function switchTool(name: string, on: boolean, { agent, switched }: CommandContext): string[] {
  if (name === "") return [`Which tool? ${on ? "/enable" : "/disable"} NAME; /tools lists them.`];
  const exists = on ? agent.enableTool(name) : agent.disableTool(name);
  if (!exists) {
    const nearest = nearestMatch(name, agent.registry.getToolNames());
    const hint = nearest === undefined ? "/tools lists them." : `Did you mean ${quote(nearest)}?`;
    return [`There is no tool ${quote(name)}. ${hint}`];
  }
  switched.set(name, on);
  return [`${name} is ${on ? "on" : "off"} in this chat.`];
}

async function status(argument: string, context: CommandContext): Promise<readonly string[]> {
  const { log, settings, stopTurn, columns } = context;
  if (argument === "") return statusLines(log, settings.jobs, columns());
  const id = /^end\s+(\S+)$/.exec(argument)?.[1];
  if (id === undefined) return ["Use /status, or /status end ID with an ID that /status shows."];
  const call = log.running.find(({ number }) => id === `#${number}` || id === String(number));
  if (call) {
    if (call.pid !== undefined && (await settings.jobs.endProcess?.(call.pid))) {
      return [`Ended #${call.number} ${escapeToLine(call.name)}. The answer goes on.`];
    }
    // Otherwise only the answer as a whole can be stopped: its calls share one signal.
    stopTurn();
    return [`Ending #${call.number} ${escapeToLine(call.name)}, and with it the answer it was for.`];
  }
  if (await settings.jobs.end(id)) return [`Ended ${escapeToLine(id)}.`];
  const known = endableIds(log, settings.jobs);
  return [
    `Nothing that runs is called ${quote(id)}. ${known.length === 0 ? "Nothing runs." : `Running: ${escapeToLine(known.join(", "))}.`}`,
  ];
}

async function clear(_argument: string, { agent, settings, busy }: CommandContext): Promise<string[]> {
  if (busy()) return ["A message is being answered. Stop it with Ctrl+C first, then /clear."];
  if (!settings.startNewSession) {
    agent.clearContext();
    return ["The conversation is forgotten."];
  }
  await settings.startNewSession();
  return ["A new conversation. The one before can be resumed: agent sessions lists it."];
}

async function switchModel(name: string, { settings, model }: CommandContext): Promise<string[]> {
  if (name === "") return [`${escapeToLine(model.name)} answers.`];
  if (!settings.switchModel) return ["The model cannot be switched in this chat. Start again with --model."];
  model.name = await settings.switchModel(name);
  return [`${escapeToLine(model.name)} answers from the next message on.`];
}
