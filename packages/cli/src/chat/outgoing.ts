import type { Content, ContentPart, Conversation, MentionSource } from "@agent/core";
import { attach, findMentions } from "./input/mentions.js";

/** The working directory of a message, and the sources it can mention besides files. */
export interface MessagePlace {
  readonly cwd: string;
  readonly sources?: readonly MentionSource[];
  readonly signal?: AbortSignal | undefined;
}

/** A message as it is sent, and what was attached to it, in words. */
export interface Outgoing {
  readonly content: Content;
  readonly notes: readonly string[];
}

/**
 * Composes a message: the person's text, then what happened since the last message, then the files and other things it
 * mentions. Rejects, saying what is wrong, if one of them exists and cannot be attached.
 */
export async function composeMessage(
  text: string,
  { cwd, sources = [], signal = new AbortController().signal }: MessagePlace,
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
    const attachment = await attach(mention, cwd);
    if (!attachment) continue;
    parts.push(attachment.part);
    notes.push(attachment.note);
  }
  const [first, ...rest] = [text, ...happened].map((words) => ({ type: "text", text: words }) as const);
  const isPlain = rest.length + parts.length === 0;
  return { content: isPlain || !first ? text : [first, ...rest, ...parts], notes };
}

/** Adds what happened since the last message to content that a command made. */
export function withNotes(content: Content, happened: readonly string[]): Content {
  if (happened.length === 0) return content;
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  return [...parts, ...happened.map((text) => ({ type: "text", text }) as const)];
}

/** Removes a message that got no answer from the conversation: when it is sent again, it would be there twice. */
export function takeBackUnanswered(conversation: Conversation): boolean {
  const { length } = conversation.sessionContext;
  if (conversation.sessionContext.at(-1)?.role !== "user") return false;
  conversation.replace(length - 1, 1, []);
  return true;
}
