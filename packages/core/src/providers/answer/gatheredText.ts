import type { ChatRequest } from "../interface.js";

/**
 * Reports all text of one read as one event. A fast server sends hundreds of pieces in one read: an event for each
 * would cost more than reading them, and no display would show them earlier.
 */
export class GatheredText {
  /** The request to use while reading: it buffers text and reasoning until `report`, in order. */
  readonly request: ChatRequest;
  readonly #given: Pick<ChatRequest, "onText" | "onReasoning">;
  #text = "";
  #reasoning = "";

  constructor(given: ChatRequest) {
    const { onText, onReasoning, onToolDraft } = given;
    this.#given = { ...(onText && { onText }), ...(onReasoning && { onReasoning }) };
    this.request = {
      ...given,
      ...(onText && { onText: (text) => this.#addText(text) }),
      ...(onReasoning && { onReasoning: (text) => this.#addReasoning(text) }),
      ...(onToolDraft && {
        onToolDraft: (draft) => {
          this.report();
          onToolDraft(draft);
        },
      }),
    };
  }

  /** Reports the text and reasoning since the last call. */
  report(): void {
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.#text = "";
    this.#reasoning = "";
    // Only one of the two is buffered at a time.
    if (reasoning !== "") this.#given.onReasoning?.(reasoning);
    if (text !== "") this.#given.onText?.(text);
  }

  #addText(text: string): void {
    if (this.#reasoning !== "") this.report();
    this.#text += text;
  }

  #addReasoning(text: string): void {
    if (this.#text !== "") this.report();
    this.#reasoning += text;
  }
}
