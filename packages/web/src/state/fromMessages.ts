import type { ChatMessage, Conversation, ResultDetails } from "@agent/core";
import {
  answerId,
  type Block,
  type CallBlock,
  type ChatState,
  contentText,
  EMPTY_CHAT,
  type ViewMessage,
} from "./chatState.js";
import { head } from "./shorten.js";

/** The state of a saved conversation for a page. */
export function chatStateOf(
  conversation: Pick<Conversation, "sessionContext" | "pending" | "infoOf"> &
    Partial<Pick<Conversation, "detailsOf">>,
): ChatState {
  const { sessionContext, pending } = conversation;
  const shown: ViewMessage[] = [];
  const waiting: readonly ChatMessage[] = pending ? [pending.answer, ...pending.results] : [];
  for (const message of [...sessionContext, ...waiting]) {
    if (message.role === "user") {
      const { content, generated, from } = message;
      shown.push({
        role: "user",
        content,
        ...conversation.infoOf(message),
        ...((generated || from !== undefined) && { generated: true }),
        ...(from !== undefined && { from }),
      });
    }
    if (message.role === "assistant") addAnswer(shown, message, conversation.infoOf(message).at);
    if (message.role === "tool") addResult(shown, message, conversation.detailsOf?.(message));
  }
  return { ...EMPTY_CHAT, messages: shown };
}

/** Adds to the last answer: all answers between two user messages are shown as one. */
function addAnswer(
  shown: ViewMessage[],
  answer: Extract<ChatMessage, { role: "assistant" }>,
  at: string | undefined,
): void {
  const last = shown.at(-1);
  const began = last?.role === "assistant" ? last.at : at;
  const before = last?.role === "assistant" ? last.blocks : [];
  if (last?.role === "assistant") shown.pop();
  const text: Block[] = answer.content ? [{ type: "text", text: answer.content }] : [];
  const calls = (answer.tool_calls ?? []).map(
    ({ id, function: { name, arguments: json } }): CallBlock => ({
      type: "call",
      id,
      name,
      args: readArguments(json),
      state: "requested",
      output: "",
    }),
  );
  shown.push({
    role: "assistant",
    id: answerId(shown),
    ...(began !== undefined && { at: began }),
    blocks: [...before, ...text, ...calls],
    ...(answer.stopped && { stopped: true }),
  });
}

function addResult(
  shown: ViewMessage[],
  { tool_call_id: id, content }: Extract<ChatMessage, { role: "tool" }>,
  details: ResultDetails | undefined,
): void {
  const last = shown.at(-1);
  if (last?.role !== "assistant") return;
  const index = last.blocks.findLastIndex((block) => block.type === "call" && block.id === id);
  const call = last.blocks[index];
  if (call?.type !== "call") return;
  const { outcome = "ended", durationMs, summary, about, view } = details ?? {};
  const ended: CallBlock = {
    ...call,
    state: outcome,
    text: head(contentText(content)),
    ...(durationMs !== undefined && { durationMs }),
    ...(summary !== undefined && { summary }),
    ...(about && { title: about.title, kind: about.kind }),
    ...(view && { view }),
  };
  shown[shown.length - 1] = { ...last, blocks: last.blocks.with(index, ended) };
}

function readArguments(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    // The model wrote arguments that are not JSON; its result reports that.
    return {};
  }
}
