import { isRecord } from "@agent/core/toolkit";
import { nodeCrypto } from "../nodeModules.js";

/** A SHA-256 of a JSON value that does not depend on the order of its keys. */
export function hashOf(value: unknown): string {
  return nodeCrypto.createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
