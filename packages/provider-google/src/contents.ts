import type { ChatMessage, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  callArguments,
  contentParts,
  contentText,
  isRecord,
  type JsonText,
  JsonTexts,
  jsonItems,
  TurnList,
} from "@agent/core/provider";
import type { FunctionNames } from "./functionNames.js";

// The server refuses a turn without a part.
const NO_TEXT = "(no text)";
// The signature that Google documents for a call of another model: Gemini 3 refuses a call without one.
const NO_SIGNATURE = "skip_thought_signature_validator";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

type UserMessage = Extract<ChatMessage, { role: "user" }>;

/** A call of an answer, kept until its result is written. */
interface KnownCall {
  /** The call as its result must name it: the function's name, and the server's id if it gave one. */
  readonly called: { readonly name: string; readonly id?: string };
  /** A cache key: calls with the same key are named the same way. */
  readonly key: string;
}

const UNKNOWN_CALL: KnownCall = { called: { name: "unknown" }, key: "unknown" };

interface WrittenAnswer extends JsonText {
  readonly calls: readonly (readonly [callId: string, call: KnownCall])[];
}

/** Writes conversations as contents. A message has the same bytes in every request, so that prompt caches hit. */
export class ContentWriter {
  readonly #model: string;
  readonly #isSigned: boolean;
  readonly #texts = new JsonTexts<ChatMessage>();
  readonly #answers = new JsonTexts<AssistantMessage, WrittenAnswer>();

  /** `isSigned`: Gemini 3 and later, where an answer's first call needs a signature and results may hold images. */
  constructor(model: string, isSigned: boolean) {
    this.#model = model;
    this.#isSigned = isSigned;
  }

  /** Follows the server's rules: turns alternate, and the results of an answer's calls are together in the next turn. */
  turns(messages: readonly ChatMessage[], names: FunctionNames): TurnList<"user" | "model"> {
    const list = new TurnList<"user" | "model">();
    const calls = new Map<string, KnownCall>();
    const { key } = names;
    for (const message of messages) {
      switch (message.role) {
        case "user":
          list.add("user", this.#texts.get(message) ?? this.#texts.keep(message, userText(message)));
          break;
        case "tool": {
          const call = calls.get(message.tool_call_id) ?? UNKNOWN_CALL;
          list.add(
            "user",
            this.#texts.get(message, call.key) ??
              this.#texts.keep(message, this.#resultText(contentParts(message.content), call), call.key),
          );
          break;
        }
        case "assistant": {
          // The server wants the first turn to be the user's.
          if (list.turns.length === 0) list.add("user", jsonItems(atLeastText([])));
          const answer =
            this.#answers.get(message, key) ?? this.#answers.keep(message, this.#answer(message, names), key);
          for (const [id, call] of answer.calls) calls.set(id, call);
          list.add("model", answer.text);
          break;
        }
      }
    }
    return list;
  }

  #resultText(parts: readonly ContentPart[], { called }: KnownCall): string {
    const text = contentText(parts.filter((part) => part.type === "text"));
    const shown = parts.filter((part) => part.type !== "text").flatMap(wirePart);
    const nested = this.#isSigned && shown.length > 0;
    return jsonItems([
      { functionResponse: { ...called, response: { output: text }, ...(nested && { parts: shown }) } },
      // Earlier models see images only as parts beside the result, not inside it.
      ...(nested ? [] : shown),
    ]);
  }

  #answer(message: AssistantMessage, names: FunctionNames): WrittenAnswer {
    const calls: [string, KnownCall][] = [];
    const parts = answerPieces(message, this.#model).flatMap((piece): object[] => {
      if (piece.type === "own") return isRecord(piece.value) ? [piece.value] : [];
      const { id, thoughtSignature } = companionOf(piece);
      if (piece.type === "text") {
        return piece.text === "" ? [] : [{ text: piece.text, ...(thoughtSignature && { thoughtSignature }) }];
      }
      const call = { ...(id && { id }), name: names.toWire(piece.call.function.name) };
      const signature = thoughtSignature ?? (this.#isSigned && calls.length === 0 ? NO_SIGNATURE : undefined);
      calls.push([piece.call.id, { called: call, key: `${call.name} ${id}` }]);
      return [
        {
          functionCall: { ...call, args: callArguments(piece.call) },
          ...(signature !== undefined && { thoughtSignature: signature }),
        },
      ];
    });
    return { text: jsonItems(atLeastText(parts)), calls };
  }
}

function userText({ content }: UserMessage): string {
  return jsonItems(atLeastText(contentParts(content).flatMap(wirePart)));
}

function atLeastText(parts: object[]): object[] {
  return parts.length > 0 ? parts : [{ text: NO_TEXT }];
}

function wirePart(part: ContentPart): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
  return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
}

/** The id and signature that the server sent with a text or a call. */
function companionOf(piece: AnswerPiece): { readonly id?: string; readonly thoughtSignature?: string } {
  if (piece.type === "own" || !isRecord(piece.with)) return {};
  const { id, thoughtSignature } = piece.with;
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}
