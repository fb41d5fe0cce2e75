import { opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Servers } from "./servers.js";

const MAX_ENTRIES = 5000;
const SKIPPED = new Set(["node_modules", "vendor", "target", "dist", "build", "venv", "__pycache__"]);

/** The first file of each language in the project, from the root downwards. Examines a limited number of files. */
export async function findSources(servers: Servers): Promise<string[]> {
  const found = new Map<string, string>();
  const directories = [servers.root];
  let entries = 0;
  for (const directory of directories) {
    try {
      for await (const entry of await opendir(directory)) {
        if (++entries > MAX_ENTRIES) return [...found.values()];
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
        const path = join(directory, entry.name);
        if (entry.isDirectory()) directories.push(path);
        const language = entry.isFile() ? servers.languageOf(path) : undefined;
        if (language && !found.has(language.name)) found.set(language.name, path);
      }
    } catch {
      // Not readable.
    }
  }
  return [...found.values()];
}
