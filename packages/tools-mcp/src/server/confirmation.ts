import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { escapeInvisible, truncateMiddle } from "@agent/core/toolkit";
import { acceptedContent, type InputRequiredResult, inputRequired } from "@modelcontextprotocol/server";

const KEY = "confirm";
const MAX_SHOWN_BYTES = 16 * 1024;

/** The answer of the client's person, or the question to ask them. */
export type Confirmation = "yes" | "no" | InputRequiredResult;

/**
 * Asks the client's person before a call. The question carries a signed state with the call and its end, so that a
 * yes counts for this very call, once, within the time, and for nothing else: revision 2026-07-28 has no connection
 * that could remember it.
 */
export class Confirmations {
  readonly #secret = randomBytes(32);
  readonly #timeoutMs: number;
  /** The states that were answered and are still in time, each with its end. */
  readonly #answered = new Map<string, number>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  check(
    call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
    responses: Record<string, unknown> | undefined,
    state: string | undefined,
  ): Confirmation {
    const subject = JSON.stringify([call.name, call.args]);
    if (responses === undefined) return this.#ask(subject, call);
    if (state === undefined || !this.#isValid(subject, state) || !this.#isFirst(state)) return "no";
    return acceptedContent(responses, KEY)?.allow === true ? "yes" : "no";
  }

  #ask(
    subject: string,
    { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  ) {
    const shown = truncateMiddle(escapeInvisible(JSON.stringify(args, undefined, 2)), MAX_SHOWN_BYTES);
    return inputRequired({
      requestState: this.#state(subject, Date.now() + this.#timeoutMs, randomBytes(8).toString("hex")),
      inputRequests: {
        [KEY]: inputRequired.elicit({
          mode: "form",
          message: `Allow ${name}?\n${shown}`,
          requestedSchema: {
            type: "object",
            properties: { allow: { type: "boolean", title: `Allow ${name}`, default: false } },
            required: ["allow"],
          },
        }),
      },
    });
  }

  #state(subject: string, end: number, question: string): string {
    const signature = createHmac("sha256", this.#secret)
      .update(`${end}\0${question}\0${subject}`)
      .digest("hex");
    return `${end}.${question}.${signature}`;
  }

  #isValid(subject: string, state: string): boolean {
    const [end, question = ""] = state.split(".");
    if (!(Number(end) > Date.now())) return false;
    const [given, wanted] = [Buffer.from(state), Buffer.from(this.#state(subject, Number(end), question))];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  /** Whether the question was not answered before: a request that is sent twice runs the call once. */
  #isFirst(state: string): boolean {
    for (const [answered, end] of this.#answered) {
      if (end > Date.now()) break;
      this.#answered.delete(answered);
    }
    if (this.#answered.has(state)) return false;
    this.#answered.set(state, Number(state.split(".")[0]));
    return true;
  }
}
