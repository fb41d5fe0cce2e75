import { createRedactor as redactorFor } from "@agent/internal";
import { checkFunction } from "../hostOptions/checks.js";

/**
 * Returns a function that replaces every known secret of at least 8 characters with `[secret]`: verbatim, in any letter
 * case, URL-encoded, JSON-escaped, HTML-escaped, in base64 at any alignment (so also inside `user:key`), or in hex.
 * `secrets` is called for each text, so the list may grow. Redact before shortening a text: half a secret is not
 * recognised.
 *
 * @example
 * ```ts
 * import { createRedactor } from "@agent/core/toolkit";
 *
 * const redact = createRedactor(() => ["s3cret-value"]);
 * console.log(redact("The key is s3cret-value.")); // The key is [secret].
 * ```
 */
export function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  checkFunction("secrets", secrets);
  return redactorFor(secrets);
}
