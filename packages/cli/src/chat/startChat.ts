import { join } from "node:path";
import { escapeToLine } from "@agent/internal";
import type { SessionRecording } from "../assembly/sessionRecording.js";
import type { Style } from "../display/style.js";
import type { Aside } from "../process/ask.js";
import type { CrashGuard } from "../process/crash.js";
import type { ExitCode } from "../process/exitCodes.js";
import { imageDirectory, stateDirectory } from "../process/paths.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { createChat } from "./createChat.js";
import type { Chat, ChatSessions, ReadyChat } from "./types.js";

// Ring the bell after turns that take longer: the user probably looks elsewhere.
const NOTIFY_AFTER_MS = 20_000;

type Sessions = typeof import("../assembly/sessions.js");

export interface StartOptions {
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
  readonly guard: CrashGuard;
  /** Whether `drawFirstPrompt` has shown the prompt. */
  readonly isPromptShown?: boolean;
}

/** What is read from the disk before the provider is chosen. Questions meanwhile are asked in plain lines. */
export interface ChatSetup {
  readonly loaded: LoadedSettings;
  /** Whether AGENTS.md and the like are used. */
  readonly instructions: boolean;
}

/** `agent` in a terminal. Draws the prompt first; settings, provider and tools load behind it. */
export async function startChat(
  options: StartOptions,
  setUp: (aside: Aside) => Promise<ChatSetup>,
): Promise<ExitCode> {
  const state = stateDirectory();
  const chat = createChat({ historyFile: join(state, "history"), imageDirectory: imageDirectory() });
  const load = async (left: AbortSignal): Promise<ReadyChat> =>
    prepare(await setUp(chat.aside), options, chat, left);
  return await chat.run(load, options.isPromptShown);
}

async function prepare(
  { loaded, instructions }: ChatSetup,
  options: StartOptions,
  chat: Chat,
  left: AbortSignal,
): Promise<ReadyChat> {
  const [{ assembleAgent }, { instructionSize }, sessions, { transcriptLines }, { slashCommands: slash }] =
    await Promise.all([
      import("../assembly/assembleAgent.js"),
      import("../assembly/instructions.js"),
      import("../assembly/sessions.js"),
      import("../display/transcript.js"),
      import("./commands/slashCommands.js"),
    ]);
  const resume = options.resume === true ? await pickSession(chat, sessions) : options.resume;
  const { ask, askPermit, notice, question } = chat;
  const assembled = await assembleAgent(loaded, {
    record: options.record,
    guard: options.guard,
    instructions,
    resume,
    ask,
    forPacks: { ask: question, wake: chat.wake },
    askPermit,
    onProblem: notice,
    signal: left,
  });
  const { agent, tools, chosen, provider, problems, recording, permissions, undo, dispose } = assembled;
  const { withModel, listModels } = chosen;
  const { settings } = loaded;
  const { sessionContext } = agent.conversation;
  return {
    agent,
    slash,
    settings: {
      // One sentence per line: a terminal would break longer lines inside words.
      banner: [
        ...chosen.description.split(/(?<=\.) /),
        ...problems,
        ...assembled.instructions.map(
          (one) => `Instructions: ${escapeToLine(one.file)}${one.isCut ? ` (${instructionSize(one)})` : ""}`,
        ),
      ],
      model: chosen.model,
      confirm: tools.confirm,
      permissions,
      undo,
      ownCommands: assembled.ownCommands,
      instructions: () =>
        assembled.instructions.map((one) => ({ path: one.file, size: instructionSize(one) })),
      jobs: agent.registry.services.jobs,
      explain: ({ name }) => tools.reasons.get(name) ?? "",
      contextTokens: () => settings.contextTokens ?? provider.contextTokens,
      efforts: () => provider.efforts,
      ...(settings.notify !== false && { notifyAfterMs: settings.notify ?? NOTIFY_AFTER_MS }),
      ...(recording && { sessions: chatSessions(recording, sessions) }),
      ...(sessionContext.length > 0 && {
        resumed: (style: Style) => transcriptLines(agent.conversation, style),
      }),
      ...(listModels && { listModels: onceDone(async () => (await listModels()).map(({ id }) => id)) }),
      ...(withModel && {
        switchModel: async (model: string) => {
          provider.use(await withModel(model));
          return model;
        },
      }),
    },
    end: dispose,
  };
}

/** Asks once per project. A failure is not an answer: the next start asks again. */
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
async function pickSession({ pick }: Chat, { listSessions }: Sessions): Promise<string | true | undefined> {
  const sessions = await listSessions(process.cwd());
  if (sessions.length < 2) return true;
  const { sessionItem } = await import("./commands/sessionCommands.js");
  return await pick("Go on with", sessions.map(sessionItem));
}

function chatSessions(
  recording: SessionRecording,
  { idOf, listSessions, openSession }: Sessions,
): ChatSessions {
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
