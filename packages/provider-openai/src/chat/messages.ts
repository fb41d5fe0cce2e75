import type { ChatMessage, ContentPart } from "@agent/core";
import { contentParts, contentText, isRecord, JsonTexts } from "@agent/core/provider";
import { plainText } from "./completion.js";
import { readChatState } from "./echo.js";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** Differences between servers with the chat completions API. */
export interface MessageRules {
  readonly model: string;
  /** Changes a tool call's id to a form that this server accepts. */
  fitId(id: string): string;
  /** Extra fields for the first call of an answer that came from another server. */
  readonly foreignCall: Readonly<Record<string, unknown>> | undefined;
}

/** Writes conversations as chat completions messages. A message has the same bytes in every request, for prompt caches. */
export class MessageWriter {
  readonly #rules: MessageRules;
  readonly #texts = new JsonTexts<ChatMessage>();

  constructor(rules: MessageRules) {
    this.#rules = rules;
  }

  toJson(messages: readonly ChatMessage[]): string {
    const sent: string[] = [];
    // A tool message of this API holds only text, so images and files of a result follow in a user message.
    let shown: object[] = [];
    for (const message of messages) {
      if (message.role === "tool") {
        sent.push(this.#write(message));
        shown.push(...shownParts(message));
        continue;
      }
      if (shown.length > 0) {
        const own = message.role === "user" ? contentParts(message.content).map(wirePart) : [];
        sent.push(JSON.stringify({ role: "user", content: [...shown, ...own] }));
        shown = [];
        if (message.role === "user") continue;
      }
      sent.push(this.#write(message));
    }
    if (shown.length > 0) sent.push(JSON.stringify({ role: "user", content: shown }));
    return `[${sent.join(",")}]`;
  }

  #write(message: ChatMessage): string {
    return (
      this.#texts.get(message) ?? this.#texts.keep(message, JSON.stringify(wireMessage(message, this.#rules)))
    );
  }
}

function wireMessage(message: ChatMessage, rules: MessageRules): object {
  switch (message.role) {
    case "assistant":
      return assistantMessage(message, rules);
    case "tool":
      return toolMessage(message, rules);
    case "user":
      if (typeof message.content === "string") return message;
      return { role: "user", content: message.content.map(wirePart) };
    default:
      return message;
  }
}

function assistantMessage(message: AssistantMessage, rules: MessageRules): object {
  const { content, tool_calls: calls } = message;
  const state = readChatState(message.state?.value, rules.model);
  const { content: parts, ...fields } = state?.message ?? {};
  return {
    role: "assistant",
    // Send the original list of parts only if its text is still the text of the conversation.
    content: Array.isArray(parts) && plainText(parts) === (content ?? "") ? parts : content,
    ...(calls && {
      tool_calls: calls.map(({ id, ...call }, index) => ({
        id: rules.fitId(id),
        ...call,
        ...(state?.calls?.[index] ?? (state === undefined && index === 0 ? rules.foreignCall : undefined)),
      })),
    }),
    ...fields,
  };
}

function toolMessage(message: Extract<ChatMessage, { role: "tool" }>, rules: MessageRules): object {
  const { tool_call_id: id, content } = message;
  return { role: "tool", tool_call_id: rules.fitId(id), content: contentText(content) };
}

/** The images and files of a result, after a text that names their tool call. */
function shownParts({ content, tool_call_id: id }: Extract<ChatMessage, { role: "tool" }>): object[] {
  if (typeof content === "string") return [];
  const parts = content.filter((part) => part.type !== "text");
  if (parts.length === 0) return [];
  return [{ type: "text", text: `Shown by the tool call ${id}:` }, ...parts.map(wirePart)];
}

function wirePart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return part;
    case "image":
      return { type: "image_url", image_url: { url: dataUrl(part) } };
    case "file":
      return { type: "file", file: { filename: part.name ?? "file", file_data: dataUrl(part) } };
  }
}

/** A file as a data URL, the form that the API takes. */
export function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`;
}

/** Whether any message holds an image or a file. */
export function holdsParts(messages: readonly ChatMessage[]): boolean {
  return messages.some(
    ({ content }) => Array.isArray(content) && content.some((part) => isRecord(part) && part.type !== "text"),
  );
}
