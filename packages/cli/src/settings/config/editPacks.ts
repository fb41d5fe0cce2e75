import { isRecord } from "@agent/core/toolkit";
import { bracketParts, indentOf, insertPart, maskLiterals, type Range, removePart } from "./sourceText.js";

/** The format of a config: code or data. */
export type ConfigKind = "code" | "json" | "yaml";

/** The config's text with the pack added, or `undefined` if only a user can edit it. Never adds a pack twice. */
export function addPack(
  text: string,
  name: string,
  kind: ConfigKind,
  defaults: readonly string[],
): string | undefined {
  return addEntry(text, name, JSON.stringify(name), kind, defaults);
}

/** The config's text without the pack, or `undefined` if it is named in a way that only a user can edit. */
export function removePack(text: string, name: string, kind: ConfigKind): string | undefined {
  if (kind === "json") {
    return editPackList(text, (packs) => packs?.filter((pack) => packNameOf(pack) !== name));
  }
  if (kind === "yaml") {
    const line = yamlLine(text, name);
    return line ? text.slice(0, line.start) + text.slice(line.end) : untouched(text, name);
  }
  const open = packsList(text);
  const entry = open === undefined ? undefined : packEntry(text, open, name);
  return open === undefined || !entry ? untouched(text, name) : removePart(text, open, entry);
}

/** The lists of a config that name tools. */
const TOOL_LISTS = ["enable", "disable", "confirm"] as const;

/** The config's text with tools added to `enable`, or `undefined` if only a user can edit it. */
export function enableTools(text: string, tools: readonly string[], kind: ConfigKind): string | undefined {
  if (kind === "json") {
    return editJson(text, (config) => {
      const enabled = Array.isArray(config.enable) ? config.enable : [];
      return { ...config, enable: [...enabled, ...tools.filter((tool) => !enabled.includes(tool))] };
    });
  }
  let edited: string | undefined = text;
  for (const tool of tools) edited &&= enableTool(edited, tool, kind);
  return edited;
}

function enableTool(text: string, tool: string, kind: "code" | "yaml"): string | undefined {
  const source = JSON.stringify(tool);
  if (kind === "yaml") return addYamlItem(text, "enable", source, tool);
  const open = listOf(text, "enable");
  if (open !== undefined) {
    const isListed = bracketParts(maskLiterals(text), open)?.some((part) => isText(text, part, tool));
    return isListed ? text : insertPart(text, open, source);
  }
  const config = configObject(text);
  if (config === undefined || /\benable\b/.test(maskLiterals(text))) return undefined;
  return insertPart(text, config, `enable: [${source}]`);
}

/**
 * The config's text without what only a removed pack needs: its tools in `enable`, `disable` and `confirm`, a list that
 * has no other items, and the type import of its package.
 */
export function removeTraces(
  text: string,
  name: string,
  tools: readonly string[],
  kind: ConfigKind,
): string | undefined {
  const names = [...tools, `${name}/*`];
  if (kind === "json") {
    return editJson(text, (config) => {
      const edited = Object.entries(config).map(([key, value]): [string, unknown] => {
        if (!TOOL_LISTS.some((one) => one === key) || !Array.isArray(value)) return [key, value];
        const left = value.filter((one) => !names.includes(one));
        return [key, left.length === 0 && value.length > 0 ? undefined : left];
      });
      return Object.fromEntries(edited);
    });
  }
  let edited = text;
  if (kind === "yaml") {
    for (const tool of names) {
      for (let line = yamlLine(edited, tool); line; line = yamlLine(edited, tool)) {
        edited = edited.slice(0, line.start) + edited.slice(line.end);
      }
    }
    // A list without items would be null.
    return edited.replace(/^(?:enable|disable|confirm):[ \t]*(?:#.*)?(?:\r?\n(?![ \t]*-)|$(?![\r\n]))/gm, "");
  }
  for (const key of TOOL_LISTS) {
    const open = listOf(edited, key);
    if (open === undefined) continue;
    const find = (): Range | undefined =>
      bracketParts(maskLiterals(edited), open)?.find((part) =>
        names.some((tool) => isText(edited, part, tool)),
      );
    let isEdited = false;
    for (let part = find(); part; part = find(), isEdited = true) edited = removePart(edited, open, part);
    const config = configObject(edited);
    if (!isEdited || config === undefined || bracketParts(maskLiterals(edited), open)?.length !== 0) continue;
    const emptied = new RegExp(`^${key}\\s*:\\s*\\[\\s*\\]$`);
    const part = bracketParts(maskLiterals(edited), config)?.find(({ start, end }) =>
      emptied.test(edited.slice(start, end)),
    );
    if (part) edited = removePart(edited, config, part);
  }
  return edited.replace(
    /^import\s+type\s*\{[^}]*\}\s*from\s*(["'])([^"'\n]+)\1;?[ \t]*\r?\n/gm,
    (line, _, from) => (from === name ? "" : line),
  );
}

/** Adds an entry to the list of packs, written as `source`, unless the pack is already there. */
export function addEntry(
  text: string,
  name: string,
  source: string,
  kind: ConfigKind,
  defaults: readonly string[],
): string | undefined {
  if (kind === "json") {
    return editPackList(text, (packs) => {
      const list = packs ?? defaults;
      return list.some((pack) => packNameOf(pack) === name) ? list : [...list, JSON.parse(source)];
    });
  }
  if (kind === "yaml") return addYamlLine(text, name, source, defaults);
  const open = packsList(text);
  if (open !== undefined) return packEntry(text, open, name) ? text : insertPart(text, open, source);
  const config = configObject(text);
  if (config === undefined || /\bpacks\b/.test(maskLiterals(text))) return undefined;
  const list = [...defaults.map((one) => JSON.stringify(one)), source].join(", ");
  return insertPart(text, config, `packs: [${list}]`);
}

/** The position of the bracket that opens the config of a program's text. */
function configObject(text: string): number | undefined {
  const config = /\bexport\s+default\s+(?:defineConfig\s*\(\s*)?\{/.exec(maskLiterals(text));
  return config ? config.index + config[0].length - 1 : undefined;
}

/** Whether the config's text names the pack where it can be edited. */
export function hasPack(text: string, name: string, kind: ConfigKind): boolean {
  if (kind === "yaml") return yamlLine(text, name) !== undefined;
  if (kind === "json") {
    const config: unknown = JSON.parse(withoutMark(text));
    const packs = isRecord(config) && Array.isArray(config.packs) ? config.packs : [];
    return packs.some((pack) => packNameOf(pack) === name);
  }
  const open = packsList(text);
  return open !== undefined && packEntry(text, open, name) !== undefined;
}

/** The position of the bracket that opens the list of packs in a program's text. */
export function packsList(text: string): number | undefined {
  return listOf(text, "packs");
}

/** The position of the bracket that opens a list of the config in a program's text. */
function listOf(text: string, key: "packs" | (typeof TOOL_LISTS)[number]): number | undefined {
  const match = new RegExp(`\\b${key}\\s*:\\s*\\[`).exec(maskLiterals(text));
  return match ? match.index + match[0].length - 1 : undefined;
}

/** The entry of a pack: its name, or a list that begins with it. */
export function packEntry(text: string, open: number, name: string): Range | undefined {
  const mask = maskLiterals(text);
  return bracketParts(mask, open)?.find((part) => {
    if (isText(text, part, name)) return true;
    const [first] = text.charAt(part.start) === "[" ? (bracketParts(mask, part.start) ?? []) : [];
    return first !== undefined && isText(text, first, name);
  });
}

/** Changes the packs of a config that is JSON. */
export function editPackList(
  text: string,
  change: (packs: readonly unknown[] | undefined) => readonly unknown[] | undefined,
): string | undefined {
  return editJson(text, (config) => {
    const packs = change(Array.isArray(config.packs) ? config.packs : undefined);
    return { ...config, ...(packs && { packs }) };
  });
}

function editJson(
  text: string,
  change: (config: Record<string, unknown>) => Record<string, unknown>,
): string | undefined {
  const config: unknown = JSON.parse(withoutMark(text));
  if (!isRecord(config)) return undefined;
  return `${JSON.stringify(change(config), undefined, indentOf(text) || 2)}\n`;
}

export function packNameOf(pack: unknown): unknown {
  return Array.isArray(pack) ? pack[0] : pack;
}

/** The line of a YAML list that names a pack, as `- name` or as JSON, with its line break. */
export function yamlLine(text: string, name: string): Range | undefined {
  for (const match of text.matchAll(/^[ \t]*-[ \t]+(.*)(?:\r?\n|$)/gm)) {
    const item = (match[1] ?? "").trim();
    const isNamed = item === name || parsed(item) === name || packNameOf(parsed(item)) === name;
    if (isNamed) return { start: match.index, end: match.index + match[0].length };
  }
  return undefined;
}

/** Adds an entry as one line of JSON, which is valid YAML and can be found and parsed again. */
function addYamlLine(
  text: string,
  name: string,
  source: string,
  defaults: readonly string[],
): string | undefined {
  if (yamlLine(text, name)) return text;
  if (text.includes(name)) return undefined;
  return addYamlItem(text, "packs", source, name, defaults);
}

/** Adds an item to a list of the config, which is created with `defaults` if it is missing. */
function addYamlItem(
  text: string,
  key: string,
  source: string,
  name: string,
  defaults: readonly string[] = [],
): string | undefined {
  const list = new RegExp(`^${key}:[ \\t]*(?:#.*)?\\r?\\n((?:[ \\t\\r-][^\\n]*\\n?|\\n)*)`, "m").exec(text);
  if (list) {
    const [whole, items = ""] = list;
    if (yamlLine(items, name)) return text;
    const indent = /^[ \t]*(?=-)/m.exec(items)?.[0] ?? "  ";
    const end = list.index + whole.trimEnd().length;
    return `${text.slice(0, end)}\n${indent}- ${source}${text.slice(end) || "\n"}`;
  }
  if (new RegExp(`^${key}:`, "m").test(text)) return undefined;
  const lines = [...defaults.map((one) => JSON.stringify(one)), source].map((item) => `  - ${item}\n`);
  const start = text.trim() === "" || text.trim() === "{}" ? "" : `${text.trimEnd()}\n`;
  return `${start}${key}:\n${lines.join("")}`;
}

function parsed(item: string): unknown {
  try {
    return JSON.parse(item);
  } catch {
    return undefined;
  }
}

function isText(text: string, { start, end }: Range, value: string): boolean {
  return /^["'`]/.test(text.charAt(start)) && text.slice(start + 1, end - 1) === value;
}

/** Returns a text that does not name the pack unchanged; `undefined` for one that does: a user has to edit it. */
function untouched(text: string, name: string): string | undefined {
  return text.includes(JSON.stringify(name)) || text.includes(`'${name}'`) ? undefined : text;
}

/** Removes the byte order mark that some editors write. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}
