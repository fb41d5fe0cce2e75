import { AttemptError } from "./retry.js";

// Answers are a dozen levels deep. A million costs gigabytes, or the stack of whoever walks through them.
const MAX_DEPTH = 1000;

/** As `JSON.parse`, for a text from a server: throws an `AttemptError` for one that is nested without sense. */
export function parseJson(text: string): unknown {
  // A short text cannot do harm by its depth, and nearly all are short.
  if (text.length > MAX_DEPTH * 16) checkDepth(text);
  return JSON.parse(text);
}

/** The JSON text of a value from a server, which may be nested too deeply to have one. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    throw new AttemptError("the answer is nested too deeply to be read", { retryable: false });
  }
}

function checkDepth(text: string): void {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inText) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) inText = true;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth++;
      if (depth > MAX_DEPTH) {
        throw new AttemptError(`the answer is nested more than ${MAX_DEPTH} levels deep`, {
          retryable: false,
        });
      }
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
