import { checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import type { ChatRequest } from "../interface.js";

// A hostile pack could declare for ever new schemas; a person reads the first few.
const MOST_NOTICES = 100;

/** Says each thing once in the life of a provider: every request would say it again. */
export class Notices {
  readonly #said = new Set<string>();

  say(request: Pick<ChatRequest, "onNotice">, text: string): void {
    checkObject("request", request);
    checkText("text", text);
    const { onNotice } = request;
    if (!onNotice || this.#said.has(text) || this.#said.size >= MOST_NOTICES) return;
    this.#said.add(text);
    onNotice(text);
  }
}
