import { isRecord } from "@agent/core/toolkit";
import { requireCosmiconfig } from "../../process/requireCjs.js";
import { findPackList, nameOf, withItem, withoutItem } from "./packList.js";

const KEY = /^packs:[ \t]*(?:#.*)?$/m;

/** YAML with the pack added to its list, comments and layout kept. `undefined` where that cannot be done for sure. */
export function addToYaml(text: string, name: string, defaults: readonly string[]): string | undefined {
  const before = packsOf(text);
  if (before === "none") return undefined;
  if (before?.some((pack) => nameOf(pack) === name)) return text;
  const selected = before ?? defaults;
  return verified(addLine(text, name, before === undefined ? defaults : undefined), [...selected, name]);
}

/** YAML without the pack, likewise. */
export function removeFromYaml(text: string, name: string): string | undefined {
  const before = packsOf(text);
  if (before === "none") return undefined;
  const left = before?.filter((pack) => nameOf(pack) !== name);
  if (before === undefined || left?.length === before.length) return text;
  return verified(removeLine(text, name, left?.length === 0), left ?? []);
}

function addLine(text: string, name: string, defaults: readonly string[] | undefined): string | undefined {
  const item = (one: string): string => `- ${JSON.stringify(one)}`;
  if (defaults) {
    const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return `${start}packs:\n${[...defaults, name].map((one) => `  ${item(one)}\n`).join("")}`;
  }
  const block = blockOf(text);
  if (block) {
    const [first = ""] = block.lines;
    const indent = /^\s*/.exec(first)?.[0] ?? "  ";
    return [...block.before, ...block.lines, indent + item(name), ...block.after].join("\n");
  }
  const list = findPackList(text);
  return list && withItem(text, list, name);
}

function removeLine(text: string, name: string, isLast: boolean): string | undefined {
  const named = new RegExp(
    `^\\s*-\\s+(?:\\[\\s*)?["']?${name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")}["']?\\s*(?:[,\\]#].*)?$`,
  );
  const block = blockOf(text);
  if (block && isLast) return [...block.before.slice(0, -1), "packs: []", ...block.after].join("\n");
  if (block) {
    return [...block.before, ...block.lines.filter((line) => !named.test(line)), ...block.after].join("\n");
  }
  const list = findPackList(text);
  const item = list?.items.find(({ start, end }) => {
    const words = text.slice(start, end).replaceAll(/^\[\s*|["']/g, "");
    return words === name || words.startsWith(`${name},`);
  });
  return list && item ? withoutItem(text, list, item) : undefined;
}

/** The lines of a list that stands below its key. */
function blockOf(text: string): { before: string[]; lines: string[]; after: string[] } | undefined {
  const key = KEY.exec(text);
  if (!key) return undefined;
  const lines = text.split("\n");
  const start = text.slice(0, key.index).split("\n").length;
  let end = start;
  while (end < lines.length && /^(\s+\S|-\s)/.test(lines[end] ?? "")) end++;
  return { before: lines.slice(0, start), lines: lines.slice(start, end), after: lines.slice(end) };
}

/** The edited text, if reading it gives exactly what was wanted. */
function verified(text: string | undefined, wanted: readonly unknown[]): string | undefined {
  if (text === undefined) return undefined;
  return JSON.stringify(packsOf(text)) === JSON.stringify(wanted) ? text : undefined;
}

/** The list as a reader sees it; "none" for what is no config. */
function packsOf(text: string): readonly unknown[] | undefined | "none" {
  try {
    const config: unknown = requireCosmiconfig().defaultLoadersSync[".yaml"]("config.yaml", text) ?? {};
    if (!isRecord(config)) return "none";
    return config.packs === undefined ? undefined : Array.isArray(config.packs) ? config.packs : "none";
  } catch {
    return "none";
  }
}
