import { countOf } from "@agent/internal";
import {
  BUSY,
  type CommandContext,
  formatAge,
  type SlashCommand,
  sizeText,
  transcriptLines,
} from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import type { SessionRecording } from "../../sessions/sessionRecording.js";
import { idOf, listSessions, openSession, type SessionInfo } from "../../sessions/sessions.js";
import { forkSession, rewind } from "./rewind.js";

const NOT_KEPT = "This conversation is not kept (--no-session).";

/** Commands about the kept conversations of a project. */
export function sessionCommands({
  recording,
  restoreState,
  undo,
}: Pick<AssembledAgent, "recording" | "restoreState" | "undo">): Readonly<Record<string, SlashCommand>> {
  return {
    ...(recording && {
      "/clear": {
        usage: "/clear",
        help: "start a new session; the old one stays resumable",
        run: (_argument: string, context: CommandContext) => clear(recording, context),
      },
    }),
    "/resume": {
      usage: "/resume [ID]",
      help: "continue with an earlier session",
      run: (id, context) => resume(id, { recording, restoreState }, context),
    },
    "/fork": {
      usage: "/fork",
      help: "go on in a copy of this session; the original stays",
      run: async (_argument, { busy }) => {
        if (busy()) return [BUSY];
        if (!recording) return [NOT_KEPT];
        const old = idOf(recording.file);
        await forkSession({ recording, undo });
        return [`Forked. The original is still at /resume ${old}`];
      },
    },
    "/rewind": {
      usage: "/rewind",
      help: "go back to an earlier message, with or without the files; Esc Esc does the same",
      run: async (_argument, context) => {
        if (context.busy()) return [BUSY];
        if (!recording) return [NOT_KEPT];
        return await rewind({ recording, undo }, context);
      },
    },
  };
}

async function clear(recording: SessionRecording, { agent, busy, usage }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  usage.reset();
  const hadMessages = agent.conversation.sessionContext.length > 0;
  const old = idOf(recording.file);
  await recording.startNew();
  return hadMessages ? [`A new session. The old one stays: /resume ${old}`] : ["A new session."];
}

async function resume(
  argument: string,
  { recording, restoreState }: Pick<AssembledAgent, "recording" | "restoreState">,
  { busy, view, agent, usage }: CommandContext,
): Promise<readonly string[]> {
  if (busy()) return [BUSY];
  if (!recording) return [NOT_KEPT];
  const cwd = process.cwd();
  let id: string | undefined = argument;
  if (argument === "") {
    const found = (await listSessions(cwd)).filter((session) => session.id !== idOf(recording.file));
    if (found.length === 0) return ["There is no other session for this directory."];
    id = await view.pick("Resume a session", found.map(sessionItem));
    if (id === undefined) return [];
  }
  const { file, session, isKept } = await openSession(cwd, id);
  if (session) await recording.switchTo(file, session);
  usage.reset();
  return [
    // A recording that cannot be read any more: show what the model sees.
    ...transcriptLines(await agent.conversation.whole().catch(() => agent.conversation), view.style),
    ...(session && isKept ? await restoreState(file) : []),
  ];
}

/** One session in a list: how it began, when it was used last, and its size. */
export function sessionItem(session: SessionInfo): { value: string; label: string; detail: string } {
  const { id, title, savedAt, messages, bytes, isOpen } = session;
  const words = title.replace(/\s+/g, " ").trim().slice(0, 60) || "(no message)";
  const facts = [
    ...(isOpen ? ["open in another window: continues in a copy"] : []),
    formatAge(Date.now() - Date.parse(savedAt)),
    countOf(messages, "message"),
    sizeText(bytes),
    id,
  ];
  return { value: id, label: words, detail: facts.join(" · ") };
}
