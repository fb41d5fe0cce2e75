import { createHash } from "node:crypto";

/**
 * A tool call's id in the form a server takes. An id that fits stays; any other, such as one of another provider's, is
 * replaced by a hash, the same for the call and its result in every request.
 */
export function fitCallId(id: string, fits: RegExp, length = 24): string {
  if (fits.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, length);
}
