import type { Content } from "@agent/core";
import { PLAN_NOTE } from "../approval/mode.js";
import { withNotes } from "../display/addedParts.js";
import type { Message } from "./messageQueue.js";
import { composeMessage, type MessagePlace } from "./outgoing.js";

/** A message as it is sent. */
export interface ComposedMessage {
  readonly content: Content;
  /** The notes in it, to be restored if it is not delivered. */
  readonly notes: readonly string[];
  /** What was attached to it, as text. */
  readonly attached: readonly string[];
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

  /** Takes the notes for this message. Rejects, and keeps them, if something it mentions cannot be attached. */
  async compose({ text, made }: Message, place: MessagePlace, isPlanning: boolean): Promise<ComposedMessage> {
    const notes = this.#notes.splice(0);
    const happened = isPlanning ? [...notes, PLAN_NOTE] : notes;
    if (made !== undefined) return { content: withNotes(made, happened), notes, attached: [] };
    try {
      const { content, notes: attached } = await composeMessage(text, place, happened);
      return { content, notes, attached };
    } catch (error) {
      this.putBack(notes);
      throw error;
    }
  }
}
