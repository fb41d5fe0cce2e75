import type { Agent } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import type { CommandContext, SlashCommand } from "./context.js";

/** Commands about what the model sees. */
export const FILE_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  "/context": {
    usage: "/context",
    help: "what the model sees: size, instructions, files",
    run: (_argument, context) => contextLines(context),
  },
};

function contextLines({ agent, settings, usage }: CommandContext): string[] {
  const { sessionContext, systemPrompt } = agent.conversation;
  const room = settings.contextTokens?.();
  const share =
    room === undefined || usage.size === 0
      ? ""
      : ` of ${room} tokens (${Math.round((usage.size / room) * 100)}%)`;
  const instructions = settings.instructions?.() ?? [];
  // After /compact the size of the last request is that of another conversation.
  const unknown =
    usage.tokens.input === 0 ? "No request yet." : "How large it is now shows with the next request.";
  return [
    usage.size === 0 ? unknown : `The last request and its answer: ${usage.size} tokens${share}`,
    `${countOf(sessionContext.length, "message")}, a system prompt of ${systemPrompt.length} characters, ${countOf(agent.getTools().length, "tool")}`,
    ...(instructions.length === 0 ? ["No instructions (AGENTS.md) were read."] : ["Instructions"]),
    ...instructions.map(({ path, size }) => `  ${escapeToLine(path)}  ${size}`),
    ...packPrompts(agent),
  ];
}

/** What packs add to the system prompt, and what is wrong with it. */
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
