import type { Content, ContentPart, Conversation, MentionSource } from "@agent/core";
import { withNotes } from "../display/addedParts.js";
import { attach, findMentions, type MentionPlace } from "../input/mentions.js";

/** The working directory of a message, and the sources it can mention besides files. */
export interface MessagePlace extends MentionPlace {
  readonly sources?: readonly MentionSource[];
  readonly signal?: AbortSignal | undefined;
}

/** A message as it is sent, and what was attached to it, as text. */
export interface Outgoing {
  readonly content: Content;
  readonly notes: readonly string[];
}

/**
 * Composes a message: the user's text, then the files and other things it mentions, then what happened since the last
 * message. Rejects, saying what is wrong, if one of them exists and cannot be attached.
 */
export async function composeMessage(
  text: string,
  { sources = [], signal = new AbortController().signal, ...place }: MessagePlace,
  happened: readonly string[] = [],
): Promise<Outgoing> {
  const parts: ContentPart[] = [];
  const notes: string[] = [];
  const seen = new Set<string>();
  for (const mention of findMentions(text)) {
    const key = JSON.stringify(mention);
    if (seen.has(key)) continue;
    seen.add(key);
    const source = sources.find(({ name }) => mention.whole.startsWith(`${name}:`));
    if (source) {
      const content = await source.read(mention.whole.slice(source.name.length + 1), signal);
      parts.push(...(typeof content === "string" ? [{ type: "text", text: content } as const] : content));
      notes.push(mention.whole);
      continue;
    }
    const attachment = await attach(mention, place);
    if (!attachment) continue;
    parts.push(attachment.part);
    notes.push(attachment.note);
  }
  const written: Content = parts.length === 0 ? text : [{ type: "text", text }, ...parts];
  return { content: withNotes(written, happened), notes };
}

/** Removes a message that got no answer from the conversation: when it is sent again, it would be there twice. */
export function takeBackUnanswered(conversation: Conversation): boolean {
  const { length } = conversation.sessionContext;
  if (conversation.sessionContext.at(-1)?.role !== "user") return false;
  conversation.replace(length - 1, 1, []);
  return true;
}
