import type { ChatMessage, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  callArguments,
  contentParts,
  contentText,
  type JsonText,
  JsonTexts,
  jsonItems,
  TurnList,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import type { FunctionNames } from "./functionNames.js";

// The server refuses a turn without a part.
const NO_TEXT = "(no text)";
// What Google documents for a call that another model wrote: Gemini 3 refuses one without any signature.
const NO_SIGNATURE = "skip_thought_signature_validator";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** A call as its result has to name it: the function's name, and the server's own id if it gave one. */
interface WireCall {
  readonly name: string;
  readonly id?: string;
}

interface WrittenAnswer extends JsonText {
  readonly calls: readonly (readonly [callId: string, call: WireCall])[];
}

/** Writes conversations as contents. Each message gives the same bytes in every request, so that caches hit. */
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

  /** Turns alternate, and the results of an answer's calls stand together in the next turn. */
  turns(messages: readonly ChatMessage[], names: FunctionNames): TurnList<"user" | "model"> {
    const list = new TurnList<"user" | "model">();
    const calls = new Map<string, WireCall>();
    const { key } = names;
    for (const message of messages) {
      switch (message.role) {
        case "user": {
          const parts = () => atLeastText(contentParts(message.content).flatMap(wirePart));
          list.add("user", this.#write(message, parts));
          break;
        }
        case "tool": {
          const call = calls.get(message.tool_call_id) ?? { name: "unknown" };
          const parts = () => this.#resultParts(contentParts(message.content), call);
          list.add("user", this.#write(message, parts, `${call.name} ${call.id}`));
          break;
        }
        case "assistant": {
          // A conversation begins with the user.
          if (list.turns.length === 0) list.add("user", jsonItems(atLeastText([])));
          const answer = this.#answers.get(message, () => this.#answer(message, names), key);
          for (const [id, call] of answer.calls) calls.set(id, call);
          list.add("model", answer.text);
          break;
        }
      }
    }
    return list;
  }

  #write(message: ChatMessage, parts: () => readonly object[], of?: string): string {
    return this.#texts.get(message, () => ({ text: jsonItems(parts()) }), of).text;
  }

  #resultParts(parts: readonly ContentPart[], call: WireCall): object[] {
    const text = contentText(parts.filter((part) => part.type === "text"));
    const shown = parts.filter((part) => part.type !== "text").flatMap(wirePart);
    const nested = this.#isSigned && shown.length > 0;
    return [
      { functionResponse: { ...call, response: { output: text }, ...(nested && { parts: shown }) } },
      // Earlier models see images only beside the result.
      ...(nested ? [] : shown),
    ];
  }

  #answer(message: AssistantMessage, names: FunctionNames): WrittenAnswer {
    const calls: [string, WireCall][] = [];
    const parts = answerPieces(message, this.#model).flatMap((piece): object[] => {
      if (piece.type === "own") return isRecord(piece.value) ? [piece.value] : [];
      const { id, thoughtSignature } = companionOf(piece);
      if (piece.type === "text") {
        return piece.text === "" ? [] : [{ text: piece.text, ...(thoughtSignature && { thoughtSignature }) }];
      }
      const call = { ...(id && { id }), name: names.toWire(piece.call.function.name) };
      const signature = thoughtSignature ?? (this.#isSigned && calls.length === 0 ? NO_SIGNATURE : undefined);
      calls.push([piece.call.id, call]);
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

function atLeastText(parts: object[]): object[] {
  return parts.length > 0 ? parts : [{ text: NO_TEXT }];
}

function wirePart(part: ContentPart): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
  return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
}

/** What the server sent beside a text or a call. */
function companionOf(piece: AnswerPiece): { readonly id?: string; readonly thoughtSignature?: string } {
  if (piece.type === "own" || !isRecord(piece.with)) return {};
  const { id, thoughtSignature } = piece.with;
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}
