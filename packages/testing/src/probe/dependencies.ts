import { readFileSync } from "node:fs";
import { isBuiltin, register } from "node:module";
import { changesSince, takeSnapshot } from "./snapshot.js";

// Matches static imports and re-exports. It also matches inside comments and strings: an extra import does no harm.
const IMPORT = /(?:^|[\s;}])(?:import|export)\b[^"'`();]*?["']([^"']+)["']/g;
const MAX_FILES = 1000;
const PREFIX = "agent-dependency:";

// Resolves a specifier relative to the file that imports it. Node offers that only to module hooks.
const RESOLVE_AS = `
  export async function resolve(specifier, context, next) {
    if (!specifier.startsWith(${JSON.stringify(PREFIX)})) return next(specifier, context);
    const [name, parentURL] = JSON.parse(decodeURIComponent(specifier.slice(${PREFIX.length})));
    return next(name, { ...context, parentURL });
  }
`;

/**
 * Imports the packages that the pack's own files import, before the pack itself: changes they make to the process are not
 * blamed on the pack. Resolves to the changes, one phrase each. Never rejects.
 */
export async function importDependencies(module: string): Promise<string[]> {
  const imports = dependenciesOf(module);
  if (imports.size === 0) return [];
  register(`data:text/javascript,${encodeURIComponent(RESOLVE_AS)}`);
  const effects: string[] = [];
  for (const [name, parent] of imports) {
    const before = takeSnapshot();
    // A dependency that cannot be loaded is reported when the pack is imported.
    await import(PREFIX + encodeURIComponent(JSON.stringify([name, parent]))).catch(() => undefined);
    effects.push(...changesSince(before).map((change) => `${name} ${change}`));
  }
  return effects;
}

/** The packages that a module and its own files import, each with the file that imports it. */
function dependenciesOf(module: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const files = new Set([module]);
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (/^(?:\.{0,2}\/|file:)/.test(name)) {
        const own = new URL(name, file).href;
        if (!own.includes("/node_modules/") && files.size < MAX_FILES) files.add(own);
      } else if (!isBuiltin(name) && !name.startsWith("data:")) {
        if (!found.has(name)) found.set(name, file);
      }
    }
  }
  return found;
}

function importsOf(file: string): string[] {
  try {
    return Array.from(readFileSync(new URL(file), "utf8").matchAll(IMPORT), ([, name = ""]) => name);
  } catch {
    return [];
  }
}
