import type { ChatMessage, Content, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  callArguments,
  contentParts,
  isRecord,
  JsonTexts,
  jsonItems,
  TurnList,
} from "@agent/core/provider";
import { CallIds } from "./callIds.js";

// The server refuses a message without any text.
const NO_TEXT = "(no text)";
const THINKING: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

type Fields = Readonly<Record<string, unknown>>;
type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type UserMessage = Extract<ChatMessage, { role: "user" }>;
type ToolMessage = Extract<ChatMessage, { role: "tool" }>;

/** Writes conversations as Messages. A message has the same bytes in every request, so that prompt caches hit. */
export class MessageWriter {
  readonly #model: string;
  readonly #texts = new JsonTexts<ChatMessage>();

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Follows the server's rules: turns alternate, the results of an answer's calls are together at the beginning of the
   * next turn, and no text is empty.
   */
  turns(messages: readonly ChatMessage[]): TurnList<"user" | "assistant"> {
    const list = new TurnList<"user" | "assistant">();
    const ids = new CallIds();
    for (const message of messages) {
      switch (message.role) {
        case "user":
          list.add("user", this.#texts.get(message) ?? this.#texts.keep(message, userText(message)));
          break;
        case "tool": {
          const id = ids.of(message.tool_call_id);
          list.add(
            "user",
            this.#texts.get(message, id) ?? this.#texts.keep(message, resultText(message, id), id),
          );
          break;
        }
        case "assistant": {
          // The server wants the first turn to be the user's.
          if (list.turns.length === 0) list.add("user", jsonItems(atLeastText([])));
          const key = ids.addAnswer(message.tool_calls ?? []);
          list.add(
            "assistant",
            this.#texts.get(message, key) ?? this.#texts.keep(message, this.#answerText(message, ids), key),
          );
          break;
        }
      }
    }
    return list;
  }

  #answerText(message: AssistantMessage, ids: CallIds): string {
    const blocks = answerPieces(message, this.#model).flatMap((piece) => answerBlock(piece, ids));
    return jsonItems(atLeastText(withoutLastThoughts(blocks)));
  }
}

function userText({ content }: UserMessage): string {
  return jsonItems(atLeastText(blocksOf(content)));
}

function resultText({ content }: ToolMessage, id: string): string {
  return JSON.stringify({
    type: "tool_result",
    tool_use_id: id,
    content: typeof content === "string" ? content : blocksOf(content),
  });
}

function blocksOf(content: Content): object[] {
  return contentParts(content).flatMap(partBlock);
}

function atLeastText(blocks: object[]): object[] {
  return blocks.length > 0 ? blocks : [{ type: "text", text: NO_TEXT }];
}

/**
 * The blocks up to the last one that is no thinking. The server refuses an answer that ends in thinking, as one does
 * that reached its length limit before the model wrote anything.
 */
function withoutLastThoughts(blocks: readonly Fields[]): object[] {
  return blocks.slice(0, blocks.findLastIndex(({ type }) => !THINKING.has(type)) + 1);
}

function partBlock(part: ContentPart): object[] {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    case "image":
      return [{ type: "image", source: base64Source(part) }];
    case "file":
      return [
        {
          type: "document",
          source: base64Source(part),
          ...(part.name !== undefined && { title: part.name }),
        },
      ];
  }
}

function base64Source({ mediaType, data }: { readonly mediaType: string; readonly data: string }): object {
  return { type: "base64", media_type: mediaType, data };
}

function answerBlock(piece: AnswerPiece, ids: CallIds): Fields[] {
  switch (piece.type) {
    case "own":
      return isRecord(piece.value) ? [piece.value] : [];
    case "text":
      return piece.text.trim() === "" ? [] : [{ type: "text", text: piece.text }];
    case "call": {
      const { id, function: called } = piece.call;
      return [
        {
          type: "tool_use",
          id: ids.of(id),
          name: called.name,
          input: callArguments(piece.call),
        },
      ];
    }
  }
}
