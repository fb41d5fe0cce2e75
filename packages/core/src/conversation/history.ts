import { describeValue, isRecord } from "@agent/internal";
import { findContentProblem } from "./content.js";

/**
 * Describes why a provider would refuse this conversation, or returns `undefined`: a malformed message, a tool call
 * without its result, a result without its call. Messages with the `system` role are refused too: the system prompt is
 * kept outside the conversation, and a file must not add to it.
 */
export function findHistoryProblem(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return `"messages" must be an array, got ${describeValue(messages)}`;
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const problem = findMessageProblem(message);
    if (problem !== undefined) return `messages[${index}] ${problem}`;
    const { role, tool_call_id: answered, tool_calls: asked = [] } = message;
    if (role === "tool") {
      if (!open.delete(answered)) return `messages[${index}] answers a tool call no one made`;
    } else if (open.size > 0) {
      return `messages[${index}] comes before the result of tool call "${[...open][0]}"`;
    }
    for (const call of asked) open.add(call.id);
  }
  return open.size === 0 ? undefined : `tool call "${[...open][0]}" has no result`;
}

function findMessageProblem(message: unknown): string | undefined {
  if (!isRecord(message)) return `must be an object, got ${describeValue(message)}`;
  const { role, content, tool_calls: calls, tool_call_id: id, state } = message;
  switch (role) {
    case "user":
      return findContentProblem(content);
    case "tool":
      return typeof id === "string" ? findContentProblem(content) : "does not say which call it answers";
    case "assistant":
      if (content !== null && typeof content !== "string") return "has no text";
      if (state !== undefined && !isState(state)) return "has provider state without the provider's id";
      if (calls === undefined) return undefined;
      return Array.isArray(calls) && calls.every(isToolCall) ? undefined : "has a malformed tool call";
    default:
      return `has the role ${describeValue(role)}; expected user, assistant or tool`;
  }
}

function isToolCall(call: Partial<Record<string, unknown>> | null): boolean {
  const target = call?.function as Partial<Record<string, unknown>> | undefined;
  return (
    typeof call?.id === "string" &&
    call.type === "function" &&
    typeof target?.name === "string" &&
    typeof target.arguments === "string"
  );
}

function isState(state: unknown): boolean {
  return isRecord(state) && typeof state.provider === "string";
}
