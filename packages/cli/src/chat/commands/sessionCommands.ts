import { countOf, escapeToLine } from "@agent/internal";
import {
  BUSY,
  type CommandContext,
  formatAge,
  type SlashCommand,
  sizeText,
  transcriptLines,
} from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import { saidIn } from "../../sessions/searchSessions.js";
import { copyRelated, type SessionRecording } from "../../sessions/sessionRecording.js";
import { idOf, isOwnFile, openSession, type ReadSession, readSessions } from "../../sessions/sessions.js";
import { forkSession, rewind } from "./rewind.js";

// In characters: how much of a session the list searches.
const MOST_SEARCHED = 100_000;
// In characters. The list cuts its items to the window.
const LONGEST_ITEM = 160;
const NOT_KEPT = "This conversation is not saved (--no-session).";

/** Commands about the saved conversations of a project. */
export function sessionCommands({
  recording,
  restoreState,
  undo,
  names,
}: Pick<AssembledAgent, "recording" | "restoreState" | "undo" | "names">): Readonly<
  Record<string, SlashCommand>
> {
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
      run: (id, context) => resume(id, { recording, restoreState, names }, context),
    },
    "/fork": {
      usage: "/fork",
      help: "continue in a copy of this session; the original stays",
      run: async (_argument, { busy }) => {
        if (busy()) return [BUSY];
        if (!recording) return [NOT_KEPT];
        const old = idOf(recording.file);
        await forkSession({ recording, names, undo });
        return [`Forked. The original is still at /resume ${old}`];
      },
    },
    "/name": {
      usage: "/name [TEXT]",
      help: "name this session, for the status row and the list of sessions",
      run: async (text, { updateStatus }) => {
        if (!recording) return [NOT_KEPT];
        const { file } = recording;
        if (text === "") return [describeName(names.nameOf(file))];
        if (!isOwnFile(file)) return ["A session in a file of your own has the name of its file."];
        const name = await names.set(file, text);
        updateStatus();
        return [`This session is called “${escapeToLine(name)}”.`];
      },
    },
    "/rewind": {
      usage: "/rewind",
      help: "go back to an earlier message, with or without the files; Esc Esc does the same",
      run: async (_argument, context) => {
        if (context.busy()) return [BUSY];
        if (!recording) return [NOT_KEPT];
        return await rewind({ recording, names, undo }, context);
      },
    },
  };
}

function describeName(name: string | undefined): string {
  return name === undefined
    ? "This session has no name. /name TEXT gives it one."
    : `This session is called “${escapeToLine(name)}”. /name TEXT changes it.`;
}

async function clear(recording: SessionRecording, { agent, busy, usage }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  usage.reset();
  const hadMessages = agent.conversation.sessionContext.length > 0;
  const old = idOf(recording.file);
  await recording.startNew();
  return hadMessages ? [`A new session. The old one is saved: /resume ${old}`] : ["A new session."];
}

async function resume(
  argument: string,
  { recording, restoreState, names }: Pick<AssembledAgent, "recording" | "restoreState" | "names">,
  { busy, view, agent, usage }: CommandContext,
): Promise<readonly string[]> {
  if (busy()) return [BUSY];
  if (!recording) return [NOT_KEPT];
  const cwd = process.cwd();
  let id: string | undefined = argument;
  if (argument === "") {
    const found = (await readSessions(cwd)).filter(({ info }) => info.id !== idOf(recording.file));
    if (found.length === 0) return ["There is no other session for this directory."];
    id = await view.pick("Resume a session", found.map(sessionItem));
    if (id === undefined) return [];
    // A notice may have started an answer while the list was open.
    if (busy()) return [BUSY];
  }
  const { file, session, isKept } = await openSession(cwd, id);
  if (session) await recording.switchTo(file, session);
  // Another window has the session open.
  if (session && recording.file !== file) await copyRelated(file, recording.file, names, cwd);
  usage.reset();
  return [
    // The recording can no longer be read: show what the model sees.
    ...transcriptLines(await agent.conversation.whole().catch(() => agent.conversation), view.style),
    ...(session && isKept ? await restoreState(file) : []),
  ];
}

/**
 * One session in a list: its name or first message, when it was last used, and its size. Typed words search its
 * messages.
 */
export function sessionItem(read: ReadSession): {
  readonly value: string;
  readonly label: string;
  readonly detail: string;
  readonly search: string;
} {
  const { id, name, title, savedAt, messages, bytes, isOpen } = read.info;
  const words = (name ?? title).replace(/\s+/g, " ").trim().slice(0, LONGEST_ITEM) || "(no message)";
  const facts = [
    ...(isOpen ? ["open in another window: continues in a copy"] : []),
    formatAge(Date.now() - Date.parse(savedAt)),
    countOf(messages, "message"),
    sizeText(bytes),
    id,
  ];
  const search = saidIn(read.session).join("\n").slice(0, MOST_SEARCHED);
  return { value: id, label: words, detail: facts.join(" · "), search: `${title}\n${search}` };
}
