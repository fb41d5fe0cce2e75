import type { Content, ContentPart, Conversation, MentionSource } from "@agent/core";
import { PLAN_NOTE } from "../approval/mode.js";
import { withNotes } from "../display/addedParts.js";
import { attach, findMentions, type Mention, type MentionPlace } from "../input/mentions.js";
import type { Message } from "./queues.js";

/** The working directory of a message, and the sources it can mention besides files. */
export interface MessagePlace extends MentionPlace {
  readonly sources?: readonly MentionSource[];
  readonly signal?: AbortSignal | undefined;
}

/** A message as it is sent, and a description of its attachments. */
interface Outgoing {
  readonly content: Content;
  readonly notes: readonly string[];
  /** Mentions that look like files but do not exist. */
  readonly missing: readonly string[];
}

/**
 * Composes a message: the user's text, then the files and other things it mentions, then notes about events since the
 * last message. Rejects with the reason if an existing one cannot be attached.
 */
export async function composeMessage(
  text: string,
  { sources = [], signal = new AbortController().signal, ...place }: MessagePlace,
  happened: readonly string[] = [],
): Promise<Outgoing> {
  const parts: ContentPart[] = [];
  const notes: string[] = [];
  const missing: string[] = [];
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
    if (!attachment) {
      if (looksLikeFile(mention)) missing.push(mention.whole);
      continue;
    }
    parts.push(attachment.part);
    notes.push(attachment.note);
  }
  const written: Content = parts.length === 0 ? text : [{ type: "text", text }, ...parts];
  return { content: withNotes(written, happened), notes, missing };
}

/**
 * Whether a mention means a file and not a user or a package: it has an extension, line numbers, blanks or a deep path.
 */
function looksLikeFile({ path, whole, first }: Mention): boolean {
  return first !== undefined || /\.\w+$|^[.~/]|\/.*\/|\s/.test(path) || /\/$/.test(whole);
}

/** Removes an unanswered message from the conversation: otherwise it would be there twice when it is sent again. */
export function takeBackUnanswered(conversation: Conversation): boolean {
  const { length } = conversation.sessionContext;
  if (conversation.sessionContext.at(-1)?.role !== "user") return false;
  conversation.replace(length - 1, 1, []);
  return true;
}

/** A message as it is sent. */
export interface ComposedMessage {
  readonly content: Content;
  /** The notes in it, to be restored if it is not delivered. */
  readonly notes: readonly string[];
  /** A description of its attachments. */
  readonly attached: readonly string[];
  /** Mentions that look like files but do not exist. */
  readonly missing: readonly string[];
}

/** Composes messages, and keeps notes for the model until the next one: commands the user ran, changes undone. */
export class Composer {
  #notes: string[] = [];

  addNote(note: string): void {
    this.#notes.push(note);
  }

  /** The message they were sent with was not delivered: the next one gets them. */
  putBack(notes: readonly string[]): void {
    this.#notes.unshift(...notes);
  }

  /** Takes the notes for this message. Rejects, and keeps them, if a mention cannot be attached. */
  async compose({ text, made }: Message, place: MessagePlace, isPlanning: boolean): Promise<ComposedMessage> {
    const notes = this.#notes.splice(0);
    const happened = isPlanning ? [...notes, PLAN_NOTE] : notes;
    if (made !== undefined) return { content: withNotes(made, happened), notes, attached: [], missing: [] };
    try {
      const { content, notes: attached, missing } = await composeMessage(text, place, happened);
      return { content, notes, attached, missing };
    } catch (error) {
      this.putBack(notes);
      throw error;
    }
  }
}
