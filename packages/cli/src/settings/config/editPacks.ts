import { isRecord } from "@agent/core/toolkit";
import { findPackList, nameOf, type PackList, withItem, withoutItem } from "./packList.js";
import { addToYaml, removeFromYaml } from "./yamlPacks.js";

/** What a config's file holds: a program, YAML, JSON, or a package.json with the config in it. */
export type ConfigKind = "program" | "yaml" | "json" | "package";

const PACKAGE_KEY = "agent";
/** Where the object of a config begins that selects no packs yet. */
const OBJECT_START = /(?:\bdefineConfig\s*\(|\bexport\s+default)\s*\{/;

/** The config's text with the pack added, or `undefined` if only a person can edit it. Adds nothing twice. */
export function addPack(
  text: string,
  name: string,
  kind: ConfigKind,
  defaults: readonly string[],
): string | undefined {
  if (kind === "yaml") return addToYaml(text, name, defaults);
  if (kind !== "program") {
    return editData(text, kind, (packs = defaults) =>
      packs.some((pack) => nameOf(pack) === name) ? packs : [...packs, name],
    );
  }
  const list = findPackList(text);
  if (!list) {
    const selected = [...defaults, name].map((one) => JSON.stringify(one)).join(", ");
    if (/\bpacks\b/.test(text) || !OBJECT_START.test(text)) return undefined;
    return text.replace(OBJECT_START, (start) => `${start}\n  packs: [${selected}],`);
  }
  return itemOf(text, list, name) ? text : withItem(text, list, name);
}

/** The config's text without the pack, or `undefined` if it is named in a way that only a person can edit. */
export function removePack(text: string, name: string, kind: ConfigKind): string | undefined {
  if (kind === "yaml") return removeFromYaml(text, name);
  if (kind !== "program") {
    return editData(text, kind, (packs) => packs?.filter((pack) => nameOf(pack) !== name));
  }
  const list = findPackList(text);
  const item = list && itemOf(text, list, name);
  if (list && item) return withoutItem(text, list, item);
  return text.includes(JSON.stringify(name)) ? undefined : text;
}

/** The item that names a pack, alone or with its options. */
function itemOf(text: string, list: PackList, name: string): PackList["items"][number] | undefined {
  return list.items.find(({ start, end }) => {
    const item = text.slice(start, end).replace(/^\[\s*/, "");
    return [`"${name}"`, `'${name}'`].some((quoted) => item.startsWith(quoted));
  });
}

function editData(
  text: string,
  kind: "json" | "package",
  change: (packs: readonly unknown[] | undefined) => readonly unknown[] | undefined,
): string | undefined {
  const file: unknown = JSON.parse(text);
  const config: unknown = kind === "package" && isRecord(file) ? file[PACKAGE_KEY] : file;
  if (!isRecord(file) || !isRecord(config)) return undefined;
  const packs = change(Array.isArray(config.packs) ? config.packs : undefined);
  const edited = { ...config, ...(packs && { packs }) };
  const indent = /^[ \t]+/m.exec(text)?.[0] ?? 2;
  const result = kind === "package" ? { ...file, [PACKAGE_KEY]: edited } : edited;
  return `${JSON.stringify(result, undefined, indent)}\n`;
}
