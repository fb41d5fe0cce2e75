import { contentTokens } from "../conversation/content.js";
import type { ChatMessage, ProviderState } from "../providers/interface.js";

// A token is about four characters of English or code: precise enough to decide when to compact.
export const CHARACTERS_PER_TOKEN = 4;
// Tokens a server adds for each message and each call.
const MESSAGE_TOKENS = 4;
const CALL_TOKENS = 8;

/** About how many tokens these messages take. */
export function estimateTokens(messages: readonly ChatMessage[]): number {
  let tokens = 0;
  for (const message of messages) {
    tokens += MESSAGE_TOKENS + contentTokens(message.content ?? "");
    if (message.role !== "assistant") continue;
    for (const { function: called } of message.tool_calls ?? []) {
      tokens += CALL_TOKENS + textTokens(called.name) + textTokens(called.arguments);
    }
    if (message.state !== undefined) tokens += stateTokens(message.state);
  }
  return tokens;
}

// Messages never change, and provider state can be long: measure each once.
const measured = new WeakMap<ProviderState, number>();

function stateTokens(state: ProviderState): number {
  const known = measured.get(state);
  if (known !== undefined) return known;
  const tokens = textTokens(JSON.stringify(state.value) ?? "");
  measured.set(state, tokens);
  return tokens;
}

/** About how many tokens a text takes. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
