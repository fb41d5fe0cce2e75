import { checkText } from "../../toolkit/hostOptions/checks.js";
import { isNestedDeeper } from "../../toolkit/jsonDepth.js";
import { AttemptError } from "./retry.js";

// Real answers are about a dozen levels deep.
const MAX_DEPTH = 1000;

/** Like `JSON.parse`, for text from a server: throws an `AttemptError` if it is nested too deeply. */
export function parseJson(text: string): unknown {
  checkText("text", text);
  if (isNestedDeeper(text, MAX_DEPTH)) {
    throw new AttemptError(`the answer is nested more than ${MAX_DEPTH} levels deep`, { retryable: false });
  }
  return JSON.parse(text);
}

/**
 * The JSON text of a value from a server. Throws an `AttemptError` if the value is nested too deeply for
 * `JSON.stringify`.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    throw new AttemptError("the answer is nested too deeply to be read", { retryable: false });
  }
}
