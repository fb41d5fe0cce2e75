import { errorMessage, truncateMiddle } from "@agent/core/toolkit";
import type { ConnectionHost } from "./connectionHost.js";

/** A server writes the words of its errors, and a model pays for them. */
const MAX_BYTES = 16 * 1024;

/** What went wrong, in words: without the secrets of any server, and bounded. */
export function failureText(error: unknown, { redact }: ConnectionHost): string {
  return truncateMiddle(redact(errorMessage(error)), MAX_BYTES);
}
