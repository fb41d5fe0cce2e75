import type { AnswerKey, CallKey } from "@agent/core";
import type { JournalEntry } from "../engine/engine.js";

/** The key of an answer in a journal. Scopes end in "/", ids are encoded: no two steps share a key. */
export function answerKey({ scope, turn, kind, attempt }: AnswerKey): string {
  return `${scope}${turn}/${kind}.${attempt}`;
}

/** The key of a call, and of the approval it may need. */
export function callKey({ scope, turn, callId }: Pick<CallKey, "scope" | "turn" | "callId">): string {
  return `${scope}${turn}/call.${encodeURIComponent(callId)}`;
}

/** Under this key the journal says which version of the definition's code worked on the run last. */
export const VERSION_KEY = "version";

/** Whether a completed step is among these entries. */
export function isProgress(entries: readonly JournalEntry[]): boolean {
  return entries.some(({ key, kind }) => kind === "result" && key !== VERSION_KEY);
}
