import { createHash } from "node:crypto";
import type { AnswerKey, CallKey } from "@agent/core/host";
import type { JournalEntry } from "../engine/engine.js";

/** The key of an answer in a journal. Scopes end in "/", ids are encoded: no two steps share a key. */
export function answerKey({ scope, turn, kind, attempt }: AnswerKey): string {
  return `${scope}${turn}/${kind}.${attempt}`;
}

/** The scope of a nested call: that of a child agent ends in a number alone. */
const NESTED = /\/t\d+\/$/;

/**
 * The key of a call, and of the approval it may need. A nested call is identified only by its position in the outer
 * one, which may make other calls when it runs again, so the name and arguments are part of its key.
 */
export function callKey({
  scope,
  turn,
  callId,
  name,
  args,
}: Pick<CallKey, "scope" | "turn" | "callId" | "name" | "args">): string {
  const key = `${scope}${turn}/call.${encodeURIComponent(callId)}`;
  if (!NESTED.test(scope)) return key;
  const digest = createHash("sha256")
    .update(JSON.stringify([name, args]))
    .digest("base64url");
  return `${key}.${digest.slice(0, 22)}`;
}

/** The key of the version of the definition's code that last worked on the run. */
export const VERSION_KEY = "version";

/** The suffix of keys with the number of messages delivered to the run. */
export const MESSAGES_KEY = "/messages";

/** The key prefix of an exchange: the run's own message has none. */
export function exchangePrefix(exchange: number): string {
  return exchange === 0 ? "" : `+${exchange}/`;
}

/** Whether these entries contain a completed step. */
export function isProgress(entries: readonly JournalEntry[]): boolean {
  return entries.some(({ key, kind }) => kind === "result" && key !== VERSION_KEY);
}
