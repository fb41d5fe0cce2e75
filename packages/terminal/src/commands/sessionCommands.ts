import { existsSync, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorMessage, escapeInvisible, writeFileAtomic } from "@agent/core/toolkit";
import { countOf, escapeToLine, quotePath } from "@agent/internal";
import { transcriptLines } from "../display/transcript.js";
import { exportHtml } from "../export/html.js";
import { exportMarkdown } from "../export/markdown.js";
import { formatAge, sizeText } from "../text/amounts.js";
import { BUSY, type CommandContext, type SlashCommand } from "./context.js";

const DEFAULT_REASON = "saved by /save";
const NOT_KEPT = "This conversation is not kept (--no-session).";

/** Commands about conversations. */
export const SESSION_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/clear": { usage: "/clear", help: "start a new session; the old one stays resumable", run: clear },
  "/resume": { usage: "/resume [ID]", help: "continue with an earlier session", run: resume },
  "/fork": { usage: "/fork", help: "go on in a copy of this session; the original stays", run: fork },
  "/compact": {
    usage: "/compact [WHAT TO KEEP]",
    help: "replace older messages by a summary",
    run: compact,
  },
  "/export": {
    usage: "/export [FILE]",
    help: "write the conversation to a file: .md, or .html to read in a browser",
    run: exportConversation,
  },
  "/save": {
    usage: "/save [REASON]",
    help: "save the conversation to its file",
    run: async (reason, { agent }) =>
      escapeInvisible(await agent.saveContext(reason || DEFAULT_REASON)).split("\n"),
  },
};

async function clear(_argument: string, { agent, busy, settings, usage }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  const { sessions } = settings;
  usage.forgetSize();
  if (!sessions) {
    agent.clearContext();
    return ["The conversation is forgotten."];
  }
  const hadMessages = agent.conversation.sessionContext.length > 0;
  const old = sessions.id();
  await sessions.startNew();
  return hadMessages ? [`A new session. The old one stays: /resume ${old}`] : ["A new session."];
}

async function resume(
  argument: string,
  { settings, busy, view, agent, usage }: CommandContext,
): Promise<readonly string[]> {
  if (busy()) return [BUSY];
  const { sessions } = settings;
  if (!sessions) return [NOT_KEPT];
  let id: string | undefined = argument;
  if (argument === "") {
    const found = (await sessions.list()).filter((session) => session.id !== sessions.id());
    if (found.length === 0) return ["There is no other session for this directory."];
    id = await view.pick("Resume a session", found.map(sessionItem));
    if (id === undefined) return [];
  }
  await sessions.open(id);
  usage.forgetSize();
  return transcriptLines(agent.conversation, view.style);
}

/** One session in a list: how it began, when it was used last, and its size. */
export function sessionItem(session: {
  id: string;
  title: string;
  savedAt: string;
  messages: number;
  bytes: number;
}): {
  value: string;
  label: string;
  detail: string;
} {
  const { id, title, savedAt, messages, bytes } = session;
  const words = title.replace(/\s+/g, " ").trim().slice(0, 60) || "(no message)";
  const facts = [
    formatAge(Date.now() - Date.parse(savedAt)),
    countOf(messages, "message"),
    sizeText(bytes),
    id,
  ];
  return { value: id, label: words, detail: facts.join(" · ") };
}

async function fork(_argument: string, { settings, busy }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  if (!settings.sessions) return [NOT_KEPT];
  const old = settings.sessions.id();
  await settings.sessions.fork();
  return [`Forked. The original is still at /resume ${old}`];
}

async function compact(focus: string, { agent, busy, usage, work }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  const before = agent.conversation.sessionContext.length;
  const changed = await work("summing up older messages", (signal) =>
    agent.compact({ signal, focus, onEvent: (event) => usage.see(event) }).catch((error: unknown) => {
      if (signal.aborted) return "stopped";
      throw error;
    }),
  );
  if (changed === "stopped") return ["Stopped. The conversation is as it was."];
  usage.forgetSize();
  const after = agent.conversation.sessionContext.length;
  return [changed ? `Compacted: ${before} → ${after} messages.` : "There is nothing to sum up yet."];
}

async function exportConversation(
  argument: string,
  { agent, settings, exported }: CommandContext,
): Promise<string[]> {
  const messages = agent.conversation.sessionContext;
  if (messages.length === 0) return ["There is nothing to export yet."];
  const title = settings.sessions?.id() ?? "Conversation";
  const path = resolve(argument || `agent-${settings.sessions?.id() ?? "session"}.md`);
  const shown = escapeToLine(quotePath(path));
  // A file that has the session's own name is an earlier export of it.
  const isOwn = argument === "" || exported.has(path);
  // A dangling link is there, too: writing through it would create its target.
  if (!isOwn && lstatSync(path, { throwIfNoEntry: false }))
    return [`${shown} is there already. Name another file, or remove it first.`];
  if (!existsSync(dirname(path))) return [`There is no directory ${escapeToLine(quotePath(dirname(path)))}.`];
  const content = /\.html?$/i.test(path)
    ? exportHtml(agent.conversation, title)
    : exportMarkdown(agent.conversation, title);
  try {
    await writeFileAtomic(path, content, { follow: false });
  } catch (error) {
    return [`It cannot be written: ${escapeToLine(errorMessage(error))}`];
  }
  exported.add(path);
  return [`Wrote ${countOf(messages.length, "message")} to ${shown}.`];
}
