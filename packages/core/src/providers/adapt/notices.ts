import { checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import type { ChatRequest } from "../interface.js";

// A hostile pack could declare new schemas forever; a user reads only the first few notices.
const MOST_NOTICES = 100;

/** Reports each notice once in the life of a provider; otherwise every request would repeat it. */
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
