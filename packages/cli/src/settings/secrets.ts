import { isSecretName } from "@agent/internal";

const HIDDEN = "[hidden]";

/** Redacts user names, passwords and parameters of URLs in a text, including invalid ones. */
export function hideCredentials(text: string): string {
  return text
    .replace(/(:\/\/)[^/@\s"']*@/g, `$1${HIDDEN}@`)
    .replace(/([?&][^=&#\s"']+=)[^&#\s"']+/g, `$1${HIDDEN}`);
}

/** A value for display: everything named like a key or a token is redacted, and cycles are cut. */
export function hideSecrets(value: unknown, above: readonly unknown[] = []): unknown {
  if (typeof value === "string") return hideCredentials(value);
  if (typeof value === "function") return "[function]";
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  const path = [...above, value];
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, path));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      isSecretName(key) || key === "headers" || key === "body" ? HIDDEN : hideSecrets(item, path),
    ]),
  );
}
