import { isRecord } from "@agent/internal";
import { checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import type { ChatMessage, ChatToolCall } from "../interface.js";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

/** The order of an answer's pieces. Stored as the provider's state; text and calls are counted, not repeated. */
export interface AnswerLayout {
  /** State is bound to the model that wrote it: another one refuses the signatures. */
  readonly model: string;
  readonly pieces: readonly LayoutPiece[];
}

/**
 * A value that only the provider understands, the next `text` characters of the text, or the next call. `with` is sent
 * back with it.
 */
export type LayoutPiece =
  | { readonly own: unknown }
  | { readonly text: number; readonly with?: unknown }
  | { readonly call: true; readonly with?: unknown };

/** A piece of an earlier answer, to be sent again. */
export type AnswerPiece =
  | { readonly type: "own"; readonly value: unknown }
  | { readonly type: "text"; readonly text: string; readonly with?: unknown }
  | { readonly type: "call"; readonly call: ChatToolCall; readonly with?: unknown };

/**
 * Returns an earlier answer in the order its provider sent it, with everything the provider expects back. For an answer
 * of another provider or model, returns its text, then its calls.
 */
export function answerPieces(message: AssistantMessage, model: string): AnswerPiece[] {
  checkObject("message", message);
  checkText("model", model);
  const { content, tool_calls: calls = [] } = message;
  const text = content ?? "";
  const layout = readLayout(message.state?.value, model);
  if (layout !== undefined && fits(layout, text, calls)) return layOut(layout, text, calls);
  // The layout is missing, or the answer has changed since: send the provider's own values first, as servers expect.
  const own = layout?.filter((piece) => "own" in piece).map(({ own }) => toOwn(own)) ?? [];
  const companions = layout?.filter((piece) => "call" in piece) ?? [];
  return [
    ...own,
    ...(text === "" ? [] : [{ type: "text", text } as const]),
    ...calls.map((call, index): AnswerPiece => ({ type: "call", call, ...companion(companions[index]) })),
  ];
}

function layOut(layout: readonly LayoutPiece[], text: string, calls: readonly ChatToolCall[]): AnswerPiece[] {
  let position = 0;
  let next = 0;
  return layout.flatMap((piece): AnswerPiece[] => {
    if ("own" in piece) return [toOwn(piece.own)];
    if ("text" in piece) {
      const start = position;
      position += piece.text;
      return [{ type: "text", text: text.slice(start, position), ...companion(piece) }];
    }
    const call = calls[next++];
    return call ? [{ type: "call", call, ...companion(piece) }] : [];
  });
}

function toOwn(value: unknown): AnswerPiece {
  return { type: "own", value };
}

function companion(piece: { readonly with?: unknown } | undefined): { readonly with?: unknown } {
  return piece?.with === undefined ? {} : { with: piece.with };
}

/** State comes from a session file, which may have been edited: a malformed layout is ignored. */
function readLayout(value: unknown, model: string): LayoutPiece[] | undefined {
  if (!isRecord(value) || value.model !== model || !Array.isArray(value.pieces)) return undefined;
  return value.pieces.every(isLayoutPiece) ? value.pieces : undefined;
}

function isLayoutPiece(piece: unknown): piece is LayoutPiece {
  if (!isRecord(piece)) return false;
  return "own" in piece || piece.call === true || (Number.isInteger(piece.text) && Number(piece.text) >= 0);
}

function fits(layout: readonly LayoutPiece[], text: string, calls: readonly unknown[]): boolean {
  const characters = layout.reduce((sum, piece) => sum + ("text" in piece ? piece.text : 0), 0);
  const count = layout.filter((piece) => "call" in piece).length;
  return characters === text.length && count === calls.length;
}
