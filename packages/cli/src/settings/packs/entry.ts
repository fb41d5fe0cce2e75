import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";

/** The entry in `keywords` of package.json that marks a package as a pack. */
export const PACK_KEYWORD = "agent-pack";

// The conditions under which Node imports a module; others, such as "types", are skipped.
const CONDITIONS = ["node", "import", "module-sync", "default"];

/**
 * The file that importing a package loads, by its `exports` or `main`. It may be missing if the package is not built.
 */
export function entryOf(directory: string): string {
  const { exports, main } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return join(directory, importTarget(exports) ?? (typeof main === "string" ? main : "index.js"));
}

function importTarget(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map(importTarget).find((path) => path !== undefined);
  if (!isRecord(target)) return undefined;
  if ("." in target) return importTarget(target["."]);
  for (const [condition, inner] of Object.entries(target)) {
    const path = CONDITIONS.includes(condition) ? importTarget(inner) : undefined;
    if (path !== undefined) return path;
  }
  return undefined;
}
