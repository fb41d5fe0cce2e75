import type { Content, ContentPart, Conversation } from "@agent/core";
import { attach, findMentions } from "./input/mentions.js";

/** A message as it is sent, and what was attached to it, in words. */
export interface Outgoing {
  readonly content: Content;
  readonly notes: readonly string[];
}

/**
 * Puts a message together: what the person wrote, then what happened since the last message, then the files it
 * mentions. Rejects with what is wrong with a file that is there and cannot be attached.
 */
export async function composeMessage(
  text: string,
  cwd: string,
  happened: readonly string[] = [],
): Promise<Outgoing> {
  const parts: ContentPart[] = [];
  const notes: string[] = [];
  const seen = new Set<string>();
  for (const mention of findMentions(text)) {
    const key = JSON.stringify(mention);
    if (seen.has(key)) continue;
    seen.add(key);
    const attachment = await attach(mention, cwd);
    if (!attachment) continue;
    parts.push(attachment.part);
    notes.push(attachment.note);
  }
  const [first, ...rest] = [text, ...happened].map((words) => ({ type: "text", text: words }) as const);
  const isPlain = rest.length + parts.length === 0;
  return { content: isPlain || !first ? text : [first, ...rest, ...parts], notes };
}

/** Takes a message that got no answer out of the conversation: sent again, it would be there twice. */
export function takeBackUnanswered(conversation: Conversation): boolean {
  const { length } = conversation.sessionContext;
  if (conversation.sessionContext.at(-1)?.role !== "user") return false;
  conversation.replace(length - 1, 1, []);
  return true;
}
