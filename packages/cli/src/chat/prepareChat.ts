import { relative } from "node:path";
import type { ToolInfo } from "@agent/core";
import { escapeToLine, isInside } from "@agent/internal";
import {
  type Chat,
  type ChatOptions,
  editExternally,
  editorCommand,
  type ReadyChat,
} from "@agent/terminal/host";
import { type AssembledAgent, assembleAgent } from "../assembly/assembleAgent.js";
import { PLAN_TOOL } from "../assembly/presentPlan.js";
import { undecidedTools } from "../assembly/requestTool.js";
import { instructionSize } from "../instructions/instructions.js";
import { gitBranch } from "../instructions/systemPrompt.js";
import { readVersion } from "../process/version.js";
import { idOf, readSessions } from "../sessions/sessions.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { instructionCommands } from "./commands/instructionCommands.js";
import { modelCommands } from "./commands/modelCommands.js";
import { ownSlashCommands } from "./commands/ownSlashCommands.js";
import { permissionCommands } from "./commands/permissionCommands.js";
import { sessionCommands, sessionItem } from "./commands/sessionCommands.js";
import { undoCommands } from "./commands/undoCommands.js";
import type { ChatSetup, StartOptions } from "./startChat.js";

// Ring the bell after turns that take longer: the user probably looks elsewhere.
const NOTIFY_AFTER_MS = 20_000;
const AUTO_NOTE =
  "Mode: auto. Calls run without a question, except those that the configuration asks about. Shift+Tab changes the mode.";

/** Assembles the agent of a chat, and what the chat shows and offers about it. */
export async function prepareChat(
  { loaded, instructions, notes }: ChatSetup,
  options: StartOptions,
  { ask, askPermit, notice, question, wake, pick, aside }: Chat,
  left: AbortSignal,
): Promise<ReadyChat> {
  const assembled = await assembleAgent(loaded, {
    record: options.record,
    instructions,
    resume: options.resume === true ? await pickSession(pick) : options.resume,
    ask,
    forPacks: { ask: question, wake },
    askPermit,
    edit: (text) => aside(() => editExternally(text, editorCommand())),
    inTerminal: true,
    onProblem: notice,
    signal: left,
  });
  const { agent, chosen, permissions, problems, recording, dispose } = assembled;
  const { notify, title, progress, theme, vim, keys } = loaded.settings;
  return {
    agent,
    permissions,
    options: {
      ...chatOptions(assembled, loaded),
      program: `agent ${readVersion()}`,
      // One sentence per line: a terminal would wrap longer lines inside words.
      banner: [
        ...chosen.description.split(/(?<=\.) /),
        ...problems,
        ...notes,
        ...(assembled.permissions.mode === "auto" ? [AUTO_NOTE] : []),
        ...commandsState(assembled),
        ...assembled.restored,
        ...instructionLine(assembled.instructions),
      ],
      ...notifyOptions(notify),
      title: title ?? true,
      theme: theme ?? "auto",
      vim,
      keys,
      ...(progress !== undefined && { progress }),
      onStart: (updateStatus) => {
        assembled.names.onNamed = updateStatus;
      },
      farewell: () =>
        recording && agent.conversation.sessionContext.length > 0
          ? [`To resume: agent --resume ${idOf(recording.file)}`]
          : [],
    },
    end: dispose,
  };
}

/** `Instructions: AGENTS.md, docs/style.md`, if there are any. */
function instructionLine(instructions: AssembledAgent["instructions"]): string[] {
  const files = instructions.map(
    (one) => `${shownFile(one.file)}${one.isCut ? ` (${instructionSize(one)})` : ""}`,
  );
  return files.length === 0 ? [] : [`Instructions: ${files.join(", ")}`];
}

/** Relative to the working directory, if the file is below it. */
function shownFile(file: string): string {
  const cwd = process.cwd();
  return escapeToLine(isInside(cwd, file) ? relative(cwd, file) : file);
}

/** Whether commands are enabled, and how to enable them if the user has not decided about them. */
function commandsState({ tools }: AssembledAgent): string[] {
  const runs = ({ capabilities }: ToolInfo): boolean => capabilities.includes("execute");
  const off = undecidedTools(tools).filter(runs);
  if (off.length > 0) return [`commands: off (${off.map(({ name }) => `/enable ${name}`).join(", ")})`];
  const own = tools.registry
    .describeTools()
    .filter((tool) => runs(tool) && /^@agent\//.test(tool.source ?? ""));
  if (own.length === 0) return [];
  return [
    `commands: ${own.some(({ enabled }) => enabled) ? "on" : "off"} (${own.map(({ name }) => name).join(", ")})`,
  ];
}

/** The settings that commands of a chat or an editor show and change. */
export function chatOptions(assembled: AssembledAgent, { settings }: LoadedSettings): ChatOptions {
  const { tools, provider, instructions, recording, names } = assembled;
  return {
    model: () => provider.model,
    contextTokens: () => settings.contextTokens ?? provider.contextTokens,
    sessionId: () => recording && idOf(recording.file),
    sessionName: () => recording && names.nameOf(recording.file),
    branch: () => gitBranch(process.cwd()),
    ...statusOptions(settings.statusLine),
    explainTool: ({ name }) => (name === PLAN_TOOL ? "in plan mode" : (tools.reasons.get(name) ?? "")),
    instructions: () => instructions.map((one) => ({ path: one.file, size: instructionSize(one) })),
    turns: {
      begin: (message) => {
        assembled.beginTurn(message);
        if (recording) void names.nameAfter(recording.file, message);
      },
      end: assembled.endTurn,
    },
    commands: {
      ...undoCommands(assembled),
      ...sessionCommands(assembled),
      ...permissionCommands(assembled),
      ...instructionCommands(assembled),
      ...modelCommands(assembled),
    },
    ownCommands: ownSlashCommands(assembled.ownCommands),
  };
}

function notifyOptions(
  notify: LoadedSettings["settings"]["notify"],
): Pick<ChatOptions, "notifyAfterMs" | "notifyBy"> {
  if (notify === false) return {};
  const { afterMs, by } = typeof notify === "number" ? { afterMs: notify, by: undefined } : (notify ?? {});
  return { notifyAfterMs: afterMs ?? NOTIFY_AFTER_MS, ...(by !== undefined && { notifyBy: by }) };
}

function statusOptions(
  statusLine: LoadedSettings["settings"]["statusLine"],
): Pick<ChatOptions, "statusParts" | "statusText"> {
  if (statusLine === undefined) return {};
  if (!("command" in statusLine)) return { statusParts: statusLine };
  const { command } = statusLine;
  return {
    statusText: async (status) => (await import("./statusCommand.js")).runStatusCommand(command, status),
  };
}

/** `--resume` without a name: the user chooses, unless there is only one. */
async function pickSession(pick: Chat["pick"]): Promise<string | true | undefined> {
  const sessions = await readSessions(process.cwd());
  if (sessions.length < 2) return true;
  return await pick("Resume a session", sessions.map(sessionItem));
}
