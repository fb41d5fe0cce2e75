import type { ChatMessage, Content, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  callArguments,
  contentParts,
  withinLimits,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import { CallIds } from "./callIds.js";

// The server counts the base64 text, of which it takes 5 MiB an image.
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
// A request may weigh 32 MB; the rest is for the conversation.
const MAX_FILE_BYTES = 20 * 1024 * 1024;
// The server refuses a message without any text.
const NO_TEXT = "(no text)";

export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly object[];
}

/**
 * The conversation as Messages: turns alternate, the results of an answer's calls stand together at the beginning of
 * the next turn, and no text is empty. `onRefused` hears of each image that is too large to be shown.
 */
export function wireMessages(
  messages: readonly ChatMessage[],
  model: string,
  onRefused: (text: string) => void,
): WireMessage[] {
  const turns: { role: WireMessage["role"]; content: object[] }[] = [];
  const add = (role: WireMessage["role"], blocks: readonly object[]): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  };
  const ids = new CallIds();
  const blocksOf = (content: Content): object[] =>
    withinLimits(contentParts(content), limitOf, onRefused).flatMap(partBlock);
  for (const message of messages) {
    switch (message.role) {
      case "user":
        add("user", atLeastText(blocksOf(message.content)));
        break;
      case "tool":
        add("user", [resultBlock(message, ids, blocksOf)]);
        break;
      case "assistant":
        // A conversation begins with the user.
        if (turns.length === 0) add("user", atLeastText([]));
        ids.nextAnswer();
        add(
          "assistant",
          atLeastText(answerPieces(message, model).flatMap((piece) => answerBlock(piece, ids))),
        );
        break;
    }
  }
  return turns;
}

function limitOf({ type }: ContentPart): number {
  return type === "image" ? MAX_IMAGE_BYTES : MAX_FILE_BYTES;
}

function atLeastText(blocks: object[]): object[] {
  return blocks.length > 0 ? blocks : [{ type: "text", text: NO_TEXT }];
}

function resultBlock(
  { tool_call_id: id, content }: Extract<ChatMessage, { role: "tool" }>,
  ids: CallIds,
  blocksOf: (content: Content) => object[],
): object {
  return {
    type: "tool_result",
    tool_use_id: ids.of(id),
    content: typeof content === "string" ? content : blocksOf(content),
  };
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

function answerBlock(piece: AnswerPiece, ids: CallIds): object[] {
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
