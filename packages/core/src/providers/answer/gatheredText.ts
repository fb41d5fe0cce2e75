import type { ChatRequest } from "../interface.js";

/**
 * Reports the text that came in one read at once. A fast server sends hundreds of pieces in one read; an event for each
 * would cost more than reading it, and nobody would see it any earlier.
 */
export class GatheredText {
  /** The request for whoever reads the answer: its text and reasoning wait for `report`. The order stays as it was. */
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

  /** Reports what has come since the last time. */
  report(): void {
    const [text, reasoning] = [this.#text, this.#reasoning];
    this.#text = "";
    this.#reasoning = "";
    // Only one of the two waits at a time.
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
