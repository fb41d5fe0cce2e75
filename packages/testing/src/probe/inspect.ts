import { readFileSync } from "node:fs";
import { isBuiltin, register } from "node:module";
import type { PackHost, ToolPack } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { Activity } from "./activity.js";
import { Collection } from "./collect.js";
import { createWholeHost } from "./host.js";
import { loadPack } from "./loadPack.js";
import type { Inspection, Registration, Task } from "./messages.js";
import { describeTool, plain } from "./seenTool.js";
import { changesSince, takeSnapshot } from "./snapshot.js";

const UNKNOWN_OPTION = "agentTestingUnknownOption";
const NOTHING: Registration = { tools: [], announcesMore: false, secrets: [], services: [] };

/** Imports the pack and registers it a few times, and records what that changes in the process. */
export async function inspect(task: Task): Promise<Inspection> {
  const { module, isolated, options } = task;
  const dependencyEffects = isolated ? [] : await importDependencies(module);
  const activity = new Activity(module);
  const beforeImport = takeSnapshot();
  let pack: ToolPack | undefined;
  try {
    const load = async (): Promise<void> => {
      pack = await loadPack(task);
    };
    // What an isolated pack does when it is imported stays in its own process.
    if (isolated) await load();
    else await activity.during(load);
    if (pack === undefined) throw new Error("it exports nothing");
  } catch (error) {
    return {
      importError: errorMessage(error),
      importEffects: [...activity.phrases],
      dependencyEffects,
      packName: undefined,
      packApiVersion: undefined,
      first: NOTHING,
      second: NOTHING,
      registerEffects: [],
      whole: NOTHING,
      serviceProblems: [],
    };
  }
  const importEffects = isolated ? [] : [...changesSince(beforeImport), ...activity.phrases];
  const beforeRegister = takeSnapshot();
  const first = registration(pack, options);
  const second = registration(pack, options);
  const whole = registration(pack, options, createWholeHost(options));
  const registerEffects = changesSince(beforeRegister);
  // The options of an isolated pack are checked in its process, when it starts.
  const unknownOptionRefusal = isolated
    ? "checked when its process starts"
    : registration(pack, { ...asObject(options), [UNKNOWN_OPTION]: true }).error;
  return {
    importEffects,
    dependencyEffects,
    packName: plain(pack.packName),
    packApiVersion: plain(pack.packApiVersion),
    mayCall: pack.needs?.calls === true,
    first,
    second,
    registerEffects,
    whole,
    serviceProblems: [
      ...new Set([
        ...serviceProblems(pack, options),
        ...serviceProblems(pack, options, createWholeHost(options)),
      ]),
    ],
    ...(unknownOptionRefusal !== undefined && { unknownOptionRefusal }),
  };
}

function serviceProblems(pack: ToolPack, options: unknown, host?: PackHost): string[] {
  try {
    return new Collection(pack, options, host).serviceProblems();
  } catch {
    // The pack does not register, which another check reports.
    return [];
  }
}

function registration(pack: ToolPack, options: unknown, host?: PackHost): Registration {
  try {
    const { tools, announcesMore, secrets, services } = new Collection(pack, options, host);
    return {
      tools: tools.map(describeTool),
      announcesMore,
      secrets: [...secrets],
      services: [...services],
    };
  } catch (error) {
    return { ...NOTHING, error: errorMessage(error) };
  }
}

function asObject(options: unknown): object {
  return typeof options === "object" && options !== null ? options : {};
}

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
 * Imports the packages that the pack's own files import, before the pack itself: changes they make to the process are
 * not attributed to the pack. Resolves to the changes, one phrase each. Never rejects.
 */
async function importDependencies(module: string): Promise<string[]> {
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
