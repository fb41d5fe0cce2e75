import { relative } from "node:path";
import { countOf, escapeToLine } from "@agent/internal";
import type { UndoResult } from "../../undo/undoLog.js";
import { BUSY, type CommandContext, type SlashCommand } from "./context.js";

const MOST_SHOWN = 20;

/** Commands about files: what was changed in them, and what was read from them. */
export const FILE_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/undo": {
    usage: "/undo",
    help: "take back the file changes of the last message",
    run: (_argument, context) => move("undo", context),
  },
  "/redo": {
    usage: "/redo",
    help: "make the changes again that /undo took back",
    run: (_argument, context) => move("redo", context),
  },
  "/context": {
    usage: "/context",
    help: "what the model is told: size, instructions, files",
    run: (_argument, context) => contextLines(context),
  },
};

async function move(
  direction: "undo" | "redo",
  { settings, busy, tellModel }: CommandContext,
): Promise<string[]> {
  if (busy()) return [BUSY];
  const log = settings.undo?.();
  if (!log) return ["Changes are not remembered, because this conversation is not kept (--no-session)."];
  const result = await log[direction]();
  if (!result) return [direction === "undo" ? "No message changed a file." : "Nothing was taken back."];
  const { restored, kept, message } = result;
  if (restored.length > 0) {
    const names = restored.map((path) => relative(process.cwd(), path)).join(", ");
    const done = direction === "undo" ? "took back your changes to" : "made these changes again:";
    tellModel(
      `[The person ${done} ${names}. The files are as they were ${direction === "undo" ? "before" : "after"} them.]`,
    );
  }
  const did = direction === "undo" ? "Took back" : "Made again";
  const first = escapeToLine(message.replace(/\s+/g, " ").slice(0, 60));
  return [
    restored.length === 0
      ? `Nothing could be changed of “${first}”.`
      : `${did} ${countOf(restored.length, "change")} of “${first}”:`,
    ...shownPaths(restored),
    ...keptLines(result),
    ...(kept.length > 0
      ? []
      : direction === "undo" && restored.length > 0
        ? ["/redo makes them again."]
        : []),
  ];
}

function shownPaths(paths: readonly string[]): string[] {
  const lines = paths.slice(0, MOST_SHOWN).map((path) => `  ${name(path)}`);
  return paths.length > MOST_SHOWN ? [...lines, `  … and ${paths.length - MOST_SHOWN} more`] : lines;
}

function keptLines({ kept }: UndoResult): string[] {
  if (kept.length === 0) return [];
  return ["Left alone:", ...kept.map(({ path, reason }) => `  ${name(path)}: ${escapeToLine(reason)}`)];
}

function name(path: string): string {
  const short = relative(process.cwd(), path);
  return escapeToLine(short.startsWith("..") ? path : short);
}

function contextLines({ agent, settings, usage }: CommandContext): string[] {
  const { sessionContext, systemPrompt } = agent.conversation;
  const room = settings.contextTokens?.();
  const share =
    room === undefined || usage.size === 0
      ? ""
      : ` of ${room} tokens (${Math.round((usage.size / room) * 100)}%)`;
  const instructions = settings.instructions?.() ?? [];
  return [
    usage.size === 0 ? "No request yet." : `The last request and its answer: ${usage.size} tokens${share}`,
    `${countOf(sessionContext.length, "message")}, a system prompt of ${systemPrompt.length} characters, ${countOf(agent.getTools().length, "tool")}`,
    ...(instructions.length === 0 ? ["No instructions (AGENTS.md) were read."] : ["Instructions"]),
    ...instructions.map(
      ({ path, bytes, isCut }) => `  ${escapeToLine(path)}  ${bytes} bytes${isCut ? ", cut" : ""}`,
    ),
  ];
}
