import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, quote } from "@agent/core/toolkit";
import { canonicalPath, isInside, quotePath } from "@agent/internal";
import { CliError } from "../../process/errors.js";

/** The entry in `keywords` of package.json that marks a package as a pack. */
export const PACK_KEYWORD = "agent-pack";

// The conditions under which Node imports a module; others, such as "types", are skipped.
const CONDITIONS = ["node", "import", "module-sync", "default"];

/**
 * The file that importing a package loads, by its `exports` or `main`. It may be missing if the package is not built. Throws for
 * one outside of the package: a pack would run with the files around it.
 */
export function entryOf(directory: string): string {
  const manifest = join(directory, "package.json");
  const { exports, main } = JSON.parse(readFileSync(manifest, "utf8"));
  const target = importTarget(exports) ?? (typeof main === "string" ? main : "index.js");
  const entry = join(directory, target);
  if (isInside(canonicalPath(directory), canonicalPath(entry))) return entry;
  throw new CliError(`${quotePath(manifest)}: the entry ${quote(target)} is not a file of the package.`);
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
