import { existsSync, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Agent } from "@agent/core";
import { errorMessage, escapeInvisible, writeFileAtomic } from "@agent/core/toolkit";
import { countOf, escapeToLine, quotePath } from "@agent/internal";
import { exportHtml } from "../export/html.js";
import { exportMarkdown } from "../export/markdown.js";
import { BUSY, type CommandContext, type SlashCommand } from "./context.js";

const DEFAULT_REASON = "saved by /save";

/** Commands about the conversation and what the model sees of it. */
export const CONVERSATION_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/context": {
    usage: "/context",
    help: "show what the model sees: size, instructions, files",
    run: (_argument, context) => contextLines(context),
  },
  "/clear": {
    usage: "/clear",
    help: "clear the conversation",
    run: (_argument, { agent, busy, usage }) => {
      if (busy()) return [BUSY];
      usage.reset();
      agent.clearContext();
      return ["Conversation cleared."];
    },
  },
  "/compact": {
    usage: "/compact [WHAT TO KEEP]",
    help: "replace older messages with a summary",
    run: compact,
  },
  "/copy": {
    usage: "/copy [code]",
    help: "copy the last answer, or the last code in it, to the clipboard",
    words: () => ["code"],
    run: copy,
  },
  "/export": {
    usage: "/export [FILE]",
    help: "write the conversation to a file: .md, or .html to read in a browser",
    run: exportConversation,
  },
  "/save": {
    usage: "/save [REASON]",
    help: "save the conversation to its file now, with an optional note",
    run: async (reason, { agent }) =>
      escapeInvisible(await agent.saveContext(reason || DEFAULT_REASON)).split("\n"),
  },
};

function contextLines({ agent, options, usage }: CommandContext): string[] {
  const { sessionContext, systemPrompt } = agent.conversation;
  const room = options.contextTokens?.();
  const share =
    room === undefined || usage.size === 0
      ? ""
      : ` of ${inThousands(room)} tokens (${Math.round((usage.size / room) * 100)}%)`;
  const instructions = options.instructions?.() ?? [];
  // After /compact the size of the last request no longer applies.
  const unknown = usage.tokens.input === 0 ? "No request yet." : "The next request shows its size.";
  return [
    usage.size === 0 ? unknown : `The last request and its answer: ${inThousands(usage.size)} tokens${share}`,
    `${countOf(sessionContext.length, "message")}, a system prompt of ${inThousands(systemPrompt.length)} characters, ${countOf(agent.getTools().length, "tool")}`,
    ...(instructions.length === 0 ? ["No instructions (AGENTS.md) were read."] : ["Instructions"]),
    ...instructions.map(({ path, size }) => `  ${escapeToLine(path)}  ${size}`),
    ...packPrompts(agent),
  ];
}

/** `12,345` */
function inThousands(count: number): string {
  return count.toLocaleString("en-US");
}

/** The additions of packs to the system prompt, and problems with them. */
function packPrompts(agent: Agent): string[] {
  const problems: string[] = [];
  const sections = agent.registry.services.prompts((problem) => problems.push(problem));
  if (sections.length + problems.length === 0) return [];
  return [
    "Added by packs",
    ...sections.map(
      ({ source, title, tokens, isCut }) =>
        `  ${escapeToLine(title)}  ${escapeToLine(source)}  ${tokens} tokens${isCut ? ", cut" : ""}`,
    ),
    ...problems.map((problem) => `  ${escapeToLine(problem)}`),
  ];
}

function copy(what: string, { agent, view }: CommandContext): string[] {
  if (what !== "" && what !== "code")
    return ["Use /copy for the last answer, or /copy code for the last code in it."];
  const answer = agent.conversation.sessionContext.findLast(
    (message) => message.role === "assistant" && (message.content ?? "").trim() !== "",
  );
  const content = answer?.role === "assistant" ? (answer.content ?? "") : "";
  // The fence that ends code is at least as long as the one that begins it.
  const blocks = [...content.matchAll(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^\1[`~]*[ \t]*$/gm)];
  const text = what === "code" ? blocks.at(-1)?.[2] : content;
  if (!text) return [what === "code" ? "The last answer has no code." : "There is no answer to copy yet."];
  const problem = view.copy(text);
  return [
    problem ??
      `Sent ${countOf(text.length, "character")} to the clipboard of your terminal, if it allows that.`,
  ];
}

async function compact(focus: string, { agent, busy, usage, work }: CommandContext): Promise<string[]> {
  if (busy()) return [BUSY];
  const before = agent.conversation.sessionContext.length;
  const changed = await work("summarizing older messages", (signal) =>
    agent.compact({ signal, focus, onEvent: (event) => usage.see(event) }).catch((error: unknown) => {
      if (signal.aborted) return "stopped";
      throw error;
    }),
  );
  if (changed === "stopped") return ["Stopped. The conversation is unchanged."];
  usage.forgetSize();
  const after = agent.conversation.sessionContext.length;
  return [changed ? `Compacted: ${before} → ${after} messages.` : "There is nothing to summarize yet."];
}

async function exportConversation(
  argument: string,
  { agent, options, exported }: CommandContext,
): Promise<string[]> {
  if (agent.conversation.sessionContext.length === 0) return ["There is nothing to export yet."];
  const id = options.sessionId?.();
  const name = options.sessionName?.() ?? id;
  const path = resolve(argument || `agent-${id ?? "session"}.md`);
  const shown = escapeToLine(quotePath(path));
  // A file with the session's name is an earlier export of it.
  const isOwn = argument === "" || exported.has(path);
  // Includes a dangling symlink: writing through it would create its target.
  if (!isOwn && lstatSync(path, { throwIfNoEntry: false }))
    return [`${shown} already exists. Name another file, or remove it first.`];
  if (!existsSync(dirname(path))) return [`There is no directory ${escapeToLine(quotePath(dirname(path)))}.`];
  const problems: string[] = [];
  const conversation = await agent.conversation.whole().catch((error: unknown) => {
    problems.push(`Messages that were summarized are missing: ${escapeToLine(errorMessage(error))}`);
    return agent.conversation;
  });
  const content = /\.html?$/i.test(path)
    ? exportHtml(conversation, name ?? "Conversation")
    : exportMarkdown(conversation, name ?? "Conversation");
  try {
    await writeFileAtomic(path, content, { follow: false });
  } catch (error) {
    return [`It cannot be written: ${escapeToLine(errorMessage(error))}`];
  }
  exported.add(path);
  return [`Wrote ${countOf(conversation.sessionContext.length, "message")} to ${shown}.`, ...problems];
}
