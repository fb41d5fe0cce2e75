import { isRecord } from "@agent/core/toolkit";

/** A list of packs in a program's text: brackets, with at most one level of brackets and braces inside. */
const PACKS_LIST = /(\bpacks\s*:\s*\[)((?:[^[\]]|\[[^[\]]*\])*)(\])/;

/** The config's text with the pack added, or `undefined` if the list cannot be found in it. Adds nothing twice. */
export function addPack(
  text: string,
  name: string,
  isData: boolean,
  defaults: readonly string[],
): string | undefined {
  if (isData) return editData(text, (packs) => [...new Set([...(packs ?? defaults), name])]);
  const match = PACKS_LIST.exec(text);
  if (!match) return undefined;
  const [, start = "", items = "", end = ""] = match;
  const quoted = JSON.stringify(name);
  if (items.includes(quoted)) return text;
  const separator = items.trim() === "" || items.trimEnd().endsWith(",") ? "" : ", ";
  return text.replace(match[0], () => `${start}${items.trimEnd()}${separator}${quoted}${end}`);
}

/** The config's text without the pack, or `undefined` if it is named in a way that only a person can edit. */
export function removePack(text: string, name: string, isData: boolean): string | undefined {
  if (isData) return editData(text, (packs) => packs?.filter((pack) => nameOf(pack) !== name));
  const match = PACKS_LIST.exec(text);
  const quoted = JSON.stringify(name);
  if (!match?.[2]?.includes(quoted)) return text.includes(quoted) ? undefined : text;
  const [, start = "", items = "", end = ""] = match;
  // With options it stands in brackets of its own.
  if (new RegExp(`\\[\\s*${escapeForPattern(quoted)}`).test(items)) return undefined;
  const list = items.replace(new RegExp(`${escapeForPattern(quoted)}\\s*,?\\s*`), () => "");
  return text.replace(match[0], () => `${start}${list.replace(/,\s*$/, "")}${end}`);
}

function editData(
  text: string,
  change: (packs: readonly unknown[] | undefined) => readonly unknown[] | undefined,
): string | undefined {
  const config: unknown = JSON.parse(text);
  if (!isRecord(config)) return undefined;
  const packs = change(Array.isArray(config.packs) ? config.packs : undefined);
  return `${JSON.stringify({ ...config, ...(packs && { packs }) }, undefined, 2)}\n`;
}

function nameOf(pack: unknown): unknown {
  return Array.isArray(pack) ? pack[0] : pack;
}

function escapeForPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
