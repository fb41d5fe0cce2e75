import { checkNumber } from "../../toolkit/hostOptions/checks.js";
import { AttemptError } from "../http/retry.js";

// Far beyond any answer: a model writes a few hundred thousand words and calls a few dozen tools in one answer.
const MAX_ANSWER_CHARACTERS = 16 * 1024 * 1024;
const MAX_TOOL_CALLS = 10_000;
const MAX_NAME_CHARACTERS = 1024;
// Some gateways carry a signature of several kilobytes in the id.
const MAX_ID_CHARACTERS = 64 * 1024;

/** Counts characters and calls of an answer and throws an `AttemptError` beyond the limits above. */
export class AnswerLimits {
  #characters = 0;
  #calls = 0;

  addCharacters(count: number): void {
    checkNumber("count", count);
    this.#characters += count;
    if (this.#characters > MAX_ANSWER_CHARACTERS) {
      throw excessive(`more than ${MAX_ANSWER_CHARACTERS} characters`);
    }
  }

  addCall(): void {
    if (++this.#calls > MAX_TOOL_CALLS) throw excessive(`more than ${MAX_TOOL_CALLS} tool calls`);
  }
}

/** The id of a tool call: text, or a number as text. Throws an `AttemptError` if it is too long. */
export function callId(value: unknown): string {
  return shortText(value, "an id", MAX_ID_CHARACTERS);
}

/** The name in a tool call. Throws as `callId` does. */
export function callName(value: unknown): string {
  return shortText(value, "a name", MAX_NAME_CHARACTERS);
}

function shortText(value: unknown, what: string, most: number): string {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  if (text.length > most) throw excessive(`${what} of a tool call with ${text.length} characters`);
  return text;
}

function excessive(what: string): AttemptError {
  return new AttemptError(`the answer has ${what}`, { retryable: false });
}
