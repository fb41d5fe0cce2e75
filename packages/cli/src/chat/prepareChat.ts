import { escapeToLine } from "@agent/internal";
import {
  type Chat,
  type ChatSessions,
  type ChatSettings,
  type ReadyChat,
  sessionItem,
} from "@agent/terminal/host";
import { type AssembledAgent, assembleAgent } from "../assembly/assembleAgent.js";
import { instructionSize } from "../assembly/instructions.js";
import type { SessionRecording } from "../assembly/sessionRecording.js";
import { idOf, listSessions, openSession } from "../assembly/sessions.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { ownSlashCommands } from "./commands/ownSlashCommands.js";
import { permissionCommands } from "./commands/permissionCommands.js";
import { undoCommands } from "./commands/undoCommands.js";
import type { ChatSetup, StartOptions } from "./startChat.js";

// Ring the bell after turns that take longer: the user probably looks elsewhere.
const NOTIFY_AFTER_MS = 20_000;
const AUTO_NOTE =
  "Mode: auto. Calls run without a question, except those that the configuration asks about. shift+tab changes the mode.";

/** Assembles the agent of a chat, and what the chat shows and offers about it. */
export async function prepareChat(
  { loaded, instructions }: ChatSetup,
  options: StartOptions,
  { ask, askPermit, notice, question, wake, pick }: Chat,
  left: AbortSignal,
): Promise<ReadyChat> {
  const assembled = await assembleAgent(loaded, {
    record: options.record,
    guard: options.guard,
    instructions,
    resume: options.resume === true ? await pickSession(pick) : options.resume,
    ask,
    forPacks: { ask: question, wake },
    askPermit,
    onProblem: notice,
    signal: left,
  });
  const { agent, chosen, problems, recording, dispose } = assembled;
  const { notify } = loaded.settings;
  return {
    agent,
    settings: {
      ...chatSettings(assembled, loaded),
      // One sentence per line: a terminal would break longer lines inside words.
      banner: [
        ...chosen.description.split(/(?<=\.) /),
        ...problems,
        ...(assembled.permissions.mode === "auto" ? [AUTO_NOTE] : []),
        ...assembled.instructions.map(
          (one) => `Instructions: ${escapeToLine(one.file)}${one.isCut ? ` (${instructionSize(one)})` : ""}`,
        ),
      ],
      ...(notify !== false && { notifyAfterMs: notify ?? NOTIFY_AFTER_MS }),
      ...(recording && { sessions: chatSessions(recording) }),
    },
    end: dispose,
  };
}

/** What commands of a chat or an editor show and change. */
export function chatSettings(assembled: AssembledAgent, { settings }: LoadedSettings): ChatSettings {
  const { agent, tools, chosen, provider, permissions, undo, instructions } = assembled;
  const { withModel, listModels } = chosen;
  return {
    banner: [],
    model: chosen.model,
    confirm: tools.confirm,
    permissions,
    turns: { begin: (message) => undo()?.beginTurn(message), end: async () => await undo()?.endTurn() },
    commands: { ...undoCommands(assembled), ...permissionCommands(assembled) },
    ownCommands: ownSlashCommands(assembled.ownCommands),
    instructions: () => instructions.map((one) => ({ path: one.file, size: instructionSize(one) })),
    jobs: agent.registry.services.jobs,
    explain: ({ name }) => tools.reasons.get(name) ?? "",
    contextTokens: () => settings.contextTokens ?? provider.contextTokens,
    efforts: () => provider.efforts,
    ...(listModels && { listModels: onceDone(async () => (await listModels()).map(({ id }) => id)) }),
    ...(withModel && {
      switchModel: async (model: string) => {
        provider.use(await withModel(model));
        return model;
      },
    }),
  };
}

/** Does the work with the first call. A failure is not kept: the next call tries again. */
function onceDone<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** `--resume` without a name: the user chooses, unless there is only one. */
async function pickSession(pick: Chat["pick"]): Promise<string | true | undefined> {
  const sessions = await listSessions(process.cwd());
  if (sessions.length < 2) return true;
  return await pick("Resume a session", sessions.map(sessionItem));
}

function chatSessions(recording: SessionRecording): ChatSessions {
  const cwd = process.cwd();
  return {
    id: () => idOf(recording.file),
    list: () => listSessions(cwd),
    open: async (id) => {
      const { file, session } = await openSession(cwd, id);
      if (session) await recording.switchTo(file, session);
    },
    startNew: () => recording.startNew(),
    fork: () => recording.fork(),
  };
}
