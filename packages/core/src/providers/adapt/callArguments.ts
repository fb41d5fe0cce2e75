import { isRecord } from "@agent/internal";
import type { ChatToolCall } from "../interface.js";

// Calls never change, and each request repeats all of the conversation: their arguments are parsed once.
const parsed = new WeakMap<ChatToolCall, Readonly<Record<string, unknown>>>();

/**
 * The arguments of a call in the history, as the object that many APIs want. The history holds valid JSON; a session
 * file that somebody edited may not, and then there are none.
 */
export function callArguments(call: ChatToolCall): Readonly<Record<string, unknown>> {
  const known = parsed.get(call);
  if (known) return known;
  const args = parse(call.function.arguments);
  parsed.set(call, args);
  return args;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const args: unknown = JSON.parse(text);
    return isRecord(args) ? args : {};
  } catch {
    return {};
  }
}
