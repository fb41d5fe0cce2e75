import { expect } from "vitest";
import { Agent } from "../src/agent.js";
import type { AgentOptions } from "../src/agentOptions.js";
import { contentText } from "../src/conversation/content.js";
import { Conversation } from "../src/conversation/conversation.js";
import { findHistoryProblem } from "../src/conversation/history.js";
import type { AgentEvent } from "../src/events.js";
import { type ScriptedAnswer, scriptedProvider } from "../src/providers/replay.js";
import { createToolRegistry } from "../src/tools/factory.js";
import type { ExecutableTool } from "../src/tools/tool.js";

/** An answer that asks for one tool. */
export const call = (name: string, args: unknown = {}) => ({ calls: [{ name, args }] });

/** An agent with a scripted model and the given tools. */
export function agentWith(
  answers: readonly ScriptedAnswer[],
  tools: readonly ExecutableTool[] = [],
  options: AgentOptions = {},
): Agent {
  const {
    tools: entries,
    only,
    readOnly,
    enable,
    disable,
    conversation = new Conversation(),
    ...rest
  } = options;
  const registry = createToolRegistry(conversation, entries, {
    ...(only && { only }),
    ...(readOnly !== undefined && { readOnly }),
    ...(enable && { enable }),
    ...(disable && { disable }),
    // Tools in tests that ignore their signal never stop: no one should wait long for them.
    abortGraceMs: 20,
  });
  const agent = new Agent(scriptedProvider(answers), { registry, conversation, ...rest });
  for (const tool of tools) agent.addTool(tool);
  return agent;
}

/** Everything `streamChat` reports, and the error it ended with. */
export async function collect(agent: Agent, message: string, signal?: AbortSignal) {
  const events: AgentEvent[] = [];
  try {
    for await (const event of agent.streamChat(message, signal ? { signal } : {})) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

/** One chat in either mode: its answer, or the error it rejected with. */
export async function send(
  agent: Agent,
  message: string,
  mode: "chat" | "streamChat",
  signal?: AbortSignal,
): Promise<string> {
  if (mode === "chat") return await agent.chat(message, signal ? { signal } : {});
  const { events, error } = await collect(agent, message, signal);
  if (error) throw error;
  const last = events.at(-1);
  return last?.type === "done" ? last.text : "no done event";
}

/** The results that the model got from its tools, in order. */
export const toolTexts = (agent: Agent): string[] =>
  agent.context.sessionContext.flatMap((message) =>
    message.role === "tool" ? [contentText(message.content)] : [],
  );

/** Fails unless a provider would accept the conversation as it is. */
export const expectValidHistory = (agent: Agent): void =>
  expect(findHistoryProblem(agent.context.sessionContext)).toBeUndefined();
