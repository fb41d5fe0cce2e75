import type { ChatMessage, Content, ContentPart } from "@agent/core";
import {
  type AnswerPiece,
  answerPieces,
  callArguments,
  contentParts,
  contentText,
  withinLimits,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import type { FunctionNames } from "./functionNames.js";

// A request may weigh 20 MB, and base64 adds a third.
const MAX_PART_BYTES = 14 * 1024 * 1024;
// The server refuses a turn without a part.
const NO_TEXT = "(no text)";
// What Google documents for a call that another model wrote: Gemini 3 refuses one without any signature.
const NO_SIGNATURE = "skip_thought_signature_validator";

export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: readonly object[];
}

/** What differs between generations of Gemini. */
export interface ContentRules {
  readonly model: string;
  readonly names: FunctionNames;
  /** Gemini 3 and later: the first call of a step needs a signature, and results may hold images. */
  readonly isSigned: boolean;
  readonly onRefused: (text: string) => void;
}

/**
 * The conversation as contents: turns alternate, and the results of an answer's calls stand together in the next turn.
 */
export function wireContents(messages: readonly ChatMessage[], rules: ContentRules): WireContent[] {
  const turns: { role: WireContent["role"]; parts: object[] }[] = [];
  /** Each call's name and the server's own id of it, for its result. */
  const calls = new Map<string, { name: string; id?: unknown }>();
  const add = (role: WireContent["role"], parts: readonly object[]): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  };
  for (const message of messages) {
    switch (message.role) {
      case "user":
        add("user", atLeastText(partsOf(message.content, rules)));
        break;
      case "tool": {
        const { name = "unknown", id } = calls.get(message.tool_call_id) ?? {};
        add("user", resultParts(message.content, { name, ...(id !== undefined && { id }) }, rules));
        break;
      }
      case "assistant": {
        // A conversation begins with the user.
        if (turns.length === 0) add("user", atLeastText([]));
        const pieces = answerPieces(message, rules.model);
        for (const piece of pieces) {
          if (piece.type !== "call") continue;
          const { id } = companionOf(piece);
          calls.set(piece.call.id, { name: rules.names.toWire(piece.call.function.name), id });
        }
        add("model", atLeastText(answerParts(pieces, rules)));
        break;
      }
    }
  }
  return turns;
}

function atLeastText(parts: object[]): object[] {
  return parts.length > 0 ? parts : [{ text: NO_TEXT }];
}

function partsOf(content: Content, { onRefused }: ContentRules): object[] {
  return withinLimits(contentParts(content), () => MAX_PART_BYTES, onRefused).flatMap(wirePart);
}

function wirePart(part: ContentPart): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
  return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
}

function resultParts(content: Content, call: object, rules: ContentRules): object[] {
  const parts = withinLimits(contentParts(content), () => MAX_PART_BYTES, rules.onRefused);
  const text = contentText(parts.filter((part) => part.type === "text"));
  const shown = parts.filter((part) => part.type !== "text").flatMap(wirePart);
  const nested = rules.isSigned && shown.length > 0;
  return [
    { functionResponse: { ...call, response: { output: text }, ...(nested && { parts: shown }) } },
    // Earlier models see images only beside the result.
    ...(nested ? [] : shown),
  ];
}

function answerParts(pieces: readonly AnswerPiece[], rules: ContentRules): object[] {
  let calls = 0;
  return pieces.flatMap((piece): object[] => {
    if (piece.type === "own") return isRecord(piece.value) ? [piece.value] : [];
    const { id, thoughtSignature } = companionOf(piece);
    if (piece.type === "text") {
      return piece.text === "" ? [] : [{ text: piece.text, ...(thoughtSignature && { thoughtSignature }) }];
    }
    const { name } = piece.call.function;
    const signature = thoughtSignature ?? (rules.isSigned && calls === 0 ? NO_SIGNATURE : undefined);
    calls++;
    return [
      {
        functionCall: { ...(id && { id }), name: rules.names.toWire(name), args: callArguments(piece.call) },
        ...(signature !== undefined && { thoughtSignature: signature }),
      },
    ];
  });
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
