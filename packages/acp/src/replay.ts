import type { Agent, AgentEvent } from "@agent/core";
import { contentText } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";

/** The events of a stored conversation in order: the user's messages, and the events of the answers. */
export function* replayEvents({
  conversation,
}: Agent): Generator<AgentEvent | { type: "user"; text: string }> {
  const names = new Map<string, string>();
  for (const message of conversation.sessionContext) {
    if (message.role === "user") yield { type: "user", text: contentText(message.content) };
    if (message.role === "assistant") {
      if (message.content) yield { type: "text", text: message.content };
      for (const { id, function: call } of message.tool_calls ?? []) {
        names.set(id, call.name);
        yield { type: "tool_requested", id, name: call.name, args: readArguments(call.arguments) };
      }
    }
    if (message.role === "tool") {
      const text = contentText(message.content);
      yield {
        type: "tool_end",
        id: message.tool_call_id,
        name: names.get(message.tool_call_id) ?? "",
        outcome: /^(Error executing|Tool not |Tool call denied)/.test(text) ? "error" : "ok",
        text,
        durationMs: 0,
      };
    }
  }
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(text);
    return isRecord(args) ? args : {};
  } catch {
    return {};
  }
}
