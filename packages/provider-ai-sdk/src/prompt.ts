import type { ChatMessage, Content, ContentPart } from "@agent/core";
import { type AnswerPiece, answerPieces, callArguments } from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";

// Servers refuse an answer without any text.
const NO_TEXT = "(no text)";

/** Reasoning of an answer that the next request sends back. */
export interface KeptReasoning {
  readonly text: string;
  readonly metadata?: unknown;
}

/** The conversation as a prompt of the given version of the specification. */
export function toPrompt(messages: readonly ChatMessage[], model: string, version: string): object[] {
  const names = new Map<string, string>();
  const prompt: object[] = [];
  let results: object[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (results.length === 0) prompt.push({ role: "tool", content: results });
      results.push(toolResult(message, names.get(message.tool_call_id) ?? "unknown", version));
      continue;
    }
    results = [];
    switch (message.role) {
      case "system":
        prompt.push({ role: "system", content: message.content });
        break;
      case "user":
        prompt.push({ role: "user", content: userParts(message.content, version) });
        break;
      case "assistant":
        for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
        prompt.push({ role: "assistant", content: answerParts(answerPieces(message, model)) });
        break;
    }
  }
  return prompt;
}

function userParts(content: Content, version: string): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => (part.type === "text" ? part : filePart(part, version)));
}

type DataPart = Exclude<ContentPart, { type: "text" }>;

function filePart({ mediaType, data, name }: DataPart, version: string): object {
  return {
    type: "file",
    mediaType,
    data: version === "v4" ? { type: "data", data } : data,
    ...(name !== undefined && { filename: name }),
  };
}

function toolResult(
  { tool_call_id: id, content }: Extract<ChatMessage, { role: "tool" }>,
  toolName: string,
  version: string,
): object {
  const output =
    typeof content === "string"
      ? { type: "text", value: content }
      : { type: "content", value: content.map((part) => resultPart(part, version)) };
  return { type: "tool-result", toolCallId: id, toolName, output };
}

/** A file in a tool result: each version of the specification has another form for it. */
function resultPart(part: ContentPart, version: string): object {
  if (part.type === "text") return part;
  if (version === "v4") return filePart(part, version);
  const { mediaType, data, name } = part;
  if (version === "v2") return { type: "media", mediaType, data };
  return { type: "file-data", mediaType, data, ...(name !== undefined && { filename: name }) };
}

/**
 * An answer needs more than reasoning: servers refuse one that reached its length limit before the model wrote
 * anything.
 */
function answerParts(pieces: readonly AnswerPiece[]): object[] {
  const parts = pieces.flatMap(answerPart);
  return pieces.some(({ type }) => type !== "own") ? parts : [{ type: "text", text: NO_TEXT }];
}

function answerPart(piece: AnswerPiece): object[] {
  switch (piece.type) {
    case "own": {
      if (!isRecord(piece.value) || typeof piece.value.text !== "string") return [];
      return [{ type: "reasoning", text: piece.value.text, ...providerOptions(piece.value.metadata) }];
    }
    case "text":
      return piece.text === "" ? [] : [{ type: "text", text: piece.text, ...providerOptions(piece.with) }];
    case "call": {
      const { id, function: called } = piece.call;
      return [
        {
          type: "tool-call",
          toolCallId: id,
          toolName: called.name,
          input: callArguments(piece.call),
          ...providerOptions(piece.with),
        },
      ];
    }
  }
}

/** Metadata of an answer is sent back in the next request as provider options. */
function providerOptions(metadata: unknown): object {
  return isRecord(metadata) ? { providerOptions: metadata } : {};
}
