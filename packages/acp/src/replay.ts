import type { Agent } from "@agent/core";
import { contentText } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { chunk, type UpdateWriter } from "./updates.js";

/** A kept conversation as the updates an editor would have seen, for `session/load`. */
export function* replayUpdates({ conversation }: Agent, writer: UpdateWriter): Generator<SessionUpdate> {
  for (const message of conversation.sessionContext) {
    if (message.role === "user") yield chunk("user_message_chunk", contentText(message.content));
    if (message.role === "assistant") {
      if (message.content) yield chunk("agent_message_chunk", message.content);
      for (const { id, function: call } of message.tool_calls ?? []) {
        yield* writer.updatesFor({
          type: "tool_requested",
          id,
          name: call.name,
          args: readArguments(call.arguments),
        });
      }
    }
    if (message.role === "tool") {
      const text = contentText(message.content);
      yield* writer.updatesFor({
        type: "tool_end",
        id: message.tool_call_id,
        name: "",
        outcome: /^(Error executing|Tool not |Tool call denied)/.test(text) ? "error" : "ok",
        text,
        durationMs: 0,
      });
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
