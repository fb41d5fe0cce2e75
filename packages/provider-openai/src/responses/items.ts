import type { ChatMessage, Content, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  fitCallId,
  isRecord,
  JsonTexts,
  jsonItems,
} from "@agent/core/provider";
import { dataUrl } from "../chat/messages.js";

const CALL_ID = /^.{1,64}$/s;

/** Writes conversations as input items. A message has the same bytes in every request, so that prompt caches hit. */
export class InputItems {
  readonly #model: string;
  readonly #texts = new JsonTexts<ChatMessage>();

  constructor(model: string) {
    this.#model = model;
  }

  toJson(messages: readonly ChatMessage[]): string {
    const texts = messages.map(
      (message) =>
        this.#texts.get(message) ?? this.#texts.keep(message, jsonItems(messageItems(message, this.#model))),
    );
    return `[${texts.filter((text) => text !== "").join(",")}]`;
  }
}

function messageItems(message: ChatMessage, model: string): object[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", content: inputContent(message.content) }];
    case "tool": {
      const output = inputContent(message.content);
      return [{ type: "function_call_output", call_id: fitCallId(message.tool_call_id, CALL_ID), output }];
    }
    case "assistant":
      return answered(answerPieces(message, model)).flatMap(answerItem);
  }
}

/**
 * The pieces up to the last text or call. The server refuses reasoning that nothing follows, as in an answer that reached
 * its length limit before the model wrote anything.
 */
function answered(pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
  return pieces.slice(0, pieces.findLastIndex(({ type }) => type !== "own") + 1);
}

function answerItem(piece: AnswerPiece): object[] {
  switch (piece.type) {
    case "own":
      return isRecord(piece.value) ? [piece.value] : [];
    case "text": {
      const phase = isRecord(piece.with) ? piece.with.phase : undefined;
      return [{ role: "assistant", content: piece.text, ...(typeof phase === "string" && { phase }) }];
    }
    case "call": {
      const { id, function: called } = piece.call;
      return [{ type: "function_call", call_id: fitCallId(id, CALL_ID), ...called }];
    }
  }
}

function inputContent(content: Content): string | object[] {
  return typeof content === "string" ? content : content.map(inputPart);
}

function inputPart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
    case "file":
      return { type: "input_file", filename: part.name ?? "file", file_data: dataUrl(part) };
  }
}
