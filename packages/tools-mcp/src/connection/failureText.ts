import { errorMessage, truncateMiddle } from "@agent/core/toolkit";
import type { ConnectionHost } from "./connectionHost.js";

/** The limit of an error message: the server chooses its length, and it costs tokens. */
const MAX_BYTES = 16 * 1024;

/** The error as text: without the secrets of any server, and bounded. */
export function failureText(error: unknown, { redact }: ConnectionHost): string {
  return truncateMiddle(redact(errorMessage(error)), MAX_BYTES);
}
