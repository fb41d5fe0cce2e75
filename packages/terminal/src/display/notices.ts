import type { ContextEvent, DoneEvent, NoticeEvent, RetryEvent, ToolProgressEvent } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { formatCost, formatDuration } from "../text/amounts.js";

// A delay of at least this length is shown with its duration.
const LONG_WAIT_MS = 60_000;

/** `1,204 tokens in, 310 out · 2 requests · $0.012`, or `undefined` if the provider reported no usage. */
export function usageText({ usage, turns }: DoneEvent): string | undefined {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === 0 && outputTokens === 0) return undefined;
  const count = (tokens: number): string => tokens.toLocaleString("en-US");
  const cost = usage.cost === undefined ? "" : ` · ${formatCost(usage.cost, usage.costIsEstimate)}`;
  return `${count(inputTokens)} tokens in, ${count(outputTokens)} out · ${countOf(turns, "request")}${cost}`;
}

/** Whether the model wrote no text and called no tool. After tool calls an empty answer is fine. */
export function isEmptyAnswer({ text, turns }: DoneEvent): boolean {
  return text.trim() === "" && turns === 1;
}

/** Why an answer is incomplete, if it is. */
export function cutOffText(done: DoneEvent): string | undefined {
  const { finishReason } = done;
  if (finishReason === "length") return "… the answer reached the model's length limit and is cut off";
  if (finishReason === "content_filter") return "… the provider's content filter cut the answer off";
  if (isEmptyAnswer(done)) return "… the model gave an empty answer";
  return undefined;
}

/** `voidAbove`: part of the failed answer is on the screen and cannot be erased. */
export function retryText({ reason, delayMs }: RetryEvent, voidAbove: boolean): string {
  const time = delayMs < LONG_WAIT_MS ? "" : ` in ${formatDuration(delayMs)}`;
  const rest = voidAbove ? "; ignore the partial answer above." : "…";
  return `↻ ${startSentence(reasonText(reason))}. Retrying${time}${rest}`;
}

/** Why a request failed, without a full stop: `Server error (503): overloaded`. */
export function reasonText(reason: string): string {
  const text = escapeToLine(reason).replace(/[.:]+$/, "");
  return text.replace(/^(5\d\d)(?: (?=\S))?(.*)$/, (_, status, rest) =>
    rest === "" ? `Server error (${status})` : `Server error (${status}): ${rest}`,
  );
}

function startSentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A notice of the provider, on one line. */
export function noticeText({ text }: NoticeEvent): string {
  return `… ${escapeToLine(text)}`;
}

/** The progress of a call: `3 of 10 files read`. */
export function progressText({ done, total, message }: ToolProgressEvent): string {
  const amount = [done, total].filter((value) => value !== undefined).join(" of ");
  return [amount, message].filter((part) => part !== undefined && part !== "").join(" ");
}

export function contextText({ action, tokensBefore, tokensAfter }: ContextEvent): string {
  return `… conversation ${action}: ${tokensBefore} → ${tokensAfter} tokens`;
}
