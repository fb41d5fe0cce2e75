import type { AnswerKey, CallKey } from "@agent/core";

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
