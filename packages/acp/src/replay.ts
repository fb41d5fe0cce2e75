import { type Agent, type AgentEvent, type ChatMessage, contentText } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";

/**
 * The events of a stored conversation in order: the user's messages, and the events of the answers. Titles, outcomes and
 * views are those stored with the results, so that the packs of the calls need not be installed any more.
 */
export function* replayEvents({
  conversation,
  registry,
}: Agent): Generator<AgentEvent | { type: "user"; text: string }> {
  const names = new Map<string, string>();
  const messages = conversation.sessionContext;
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") yield { type: "user", text: contentText(message.content) };
    if (message.role === "assistant") {
      if (message.content) yield { type: "text", text: message.content };
      for (const { id, function: call } of message.tool_calls ?? []) {
        names.set(id, call.name);
        const { name } = call;
        const args = readArguments(call.arguments);
        const result = resultOf(messages, index, id);
        const about = (result && conversation.detailsOf(result)?.about) ?? registry.aboutCall(name, args);
        yield { type: "tool_requested", id, name, args, title: about.title, kind: about.kind };
      }
    }
    if (message.role === "tool") {
      const text = contentText(message.content);
      const details = conversation.detailsOf(message);
      yield {
        // A session that was stored without details.
        outcome: /^(Error executing|Tool not |Tool call denied)/.test(text) ? "error" : "ok",
        durationMs: 0,
        ...details,
        type: "tool_end",
        id: message.tool_call_id,
        name: names.get(message.tool_call_id) ?? "",
        text,
      };
    }
  }
}

/** The result of a call: ids are used again, so that only the results right after the answer count. */
function resultOf(messages: readonly ChatMessage[], answer: number, id: string) {
  for (let at = answer + 1; ; at++) {
    const message = messages[at];
    if (message?.role !== "tool") return undefined;
    if (message.tool_call_id === id) return message;
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
