import { isRecord } from "@agent/core/toolkit";
import {
  addEntry,
  type ConfigKind,
  editPackList,
  hasPack,
  packEntry,
  packNameOf,
  packsList,
  yamlLine,
} from "./editPacks.js";
import {
  bracketParts,
  closingBracket,
  insertPart,
  maskLiterals,
  type Range,
  removePart,
} from "./sourceText.js";

/** One named entry in a pack's options, such as a server: `options[group][key]`. */
export interface OptionPlace {
  readonly pack: string;
  readonly group: string;
  readonly key: string;
}

/** The config's text with the entry set, and the pack added if needed; `undefined` if only a user can edit it. */
export function setPackOption(
  text: string,
  { pack, group, key }: OptionPlace,
  value: unknown,
  kind: ConfigKind,
  defaults: readonly string[],
): string | undefined {
  const change = (options: Record<string, unknown>): Record<string, unknown> => ({
    ...options,
    [group]: { ...(isRecord(options[group]) && options[group]), [key]: value },
  });
  const write = kind === "code" ? toSource : (item: unknown) => JSON.stringify(item);
  if (!hasPack(text, pack, kind)) return addEntry(text, pack, write([pack, change({})]), kind, defaults);
  if (kind === "json") return editEntry(text, pack, change);
  if (kind === "yaml") return editYamlEntry(text, pack, change);
  return setInCode(text, { pack, group, key }, toSource(value));
}

/** The config's text without the entry; `undefined` if only a user can edit it. */
export function removePackOption(
  text: string,
  { pack, group, key }: OptionPlace,
  kind: ConfigKind,
): string | undefined {
  const change = (options: Record<string, unknown>): Record<string, unknown> => {
    const { [key]: _, ...rest } = isRecord(options[group]) ? options[group] : {};
    return { ...options, [group]: rest };
  };
  if (kind === "json") return editEntry(text, pack, change);
  if (kind === "yaml") return editYamlEntry(text, pack, change);
  const options = optionsObject(text, pack);
  const values = options === undefined ? undefined : propertyObject(text, options, group);
  const part = values === undefined ? undefined : property(text, values, key);
  return values === undefined || !part ? undefined : removePart(text, values, part);
}

function editEntry(
  text: string,
  name: string,
  change: (options: Record<string, unknown>) => Record<string, unknown>,
): string | undefined {
  return editPackList(text, (packs) =>
    packs?.map((pack) =>
      packNameOf(pack) === name
        ? [name, change(Array.isArray(pack) && isRecord(pack[1]) ? pack[1] : {})]
        : pack,
    ),
  );
}

function editYamlEntry(
  text: string,
  name: string,
  change: (options: Record<string, unknown>) => Record<string, unknown>,
): string | undefined {
  const line = yamlLine(text, name);
  if (!line) return undefined;
  const [, lead = "", item = ""] = /^(\s*-\s+)(.*)/.exec(text.slice(line.start, line.end)) ?? [];
  const entry: unknown = item.trim().startsWith("[") ? JSON.parse(item) : name;
  const options = Array.isArray(entry) && isRecord(entry[1]) ? entry[1] : {};
  return `${text.slice(0, line.start)}${lead}${JSON.stringify([name, change(options)])}\n${text.slice(line.end)}`;
}

function setInCode(text: string, { pack, group, key }: OptionPlace, value: string): string | undefined {
  const open = packsList(text);
  const entry = open === undefined ? undefined : packEntry(text, open, pack);
  if (!entry) return undefined;
  const named = `${propertyName(key)}: ${value}`;
  if (text.charAt(entry.start) !== "[") {
    const whole = `[${text.slice(entry.start, entry.end)}, { ${group}: { ${named} } }]`;
    return text.slice(0, entry.start) + whole + text.slice(entry.end);
  }
  const options = optionsObject(text, pack);
  if (options === undefined) {
    const hasOptions = (bracketParts(maskLiterals(text), entry.start)?.length ?? 0) > 1;
    return hasOptions ? undefined : insertPart(text, entry.start, `{ ${group}: { ${named} } }`);
  }
  const values = propertyObject(text, options, group);
  if (values === undefined) {
    // Entries from a spread or a shorthand are not in this text.
    const isWhole = !/(?:^|[\s,{])\.\.\./.test(
      maskLiterals(text).slice(options, closingBracket(maskLiterals(text), options)),
    );
    const isFree = isWhole && !property(text, options, group);
    return isFree ? insertPart(text, options, `${group}: { ${named} }`) : undefined;
  }
  const part = property(text, values, key);
  return part ? text.slice(0, part.start) + named + text.slice(part.end) : insertPart(text, values, named);
}

/** The position of the brace that opens a pack's options: `["name", {`. */
function optionsObject(text: string, pack: string): number | undefined {
  const open = packsList(text);
  const entry = open === undefined ? undefined : packEntry(text, open, pack);
  if (!entry || text.charAt(entry.start) !== "[") return undefined;
  const options = bracketParts(maskLiterals(text), entry.start)?.[1];
  return options && text.charAt(options.start) === "{" ? options.start : undefined;
}

function property(text: string, open: number, key: string): Range | undefined {
  return bracketParts(maskLiterals(text), open)?.find(({ start, end }) => {
    const name = /^(?:(["'])(.*?)\1|([\w$]+))\s*(?::|$)/.exec(text.slice(start, end));
    return (name?.[2] ?? name?.[3]) === key;
  });
}

/** The position of the brace that opens the object in a property. */
function propertyObject(text: string, open: number, key: string): number | undefined {
  const part = property(text, open, key);
  if (!part) return undefined;
  const mask = maskLiterals(text);
  const at = part.start + mask.slice(part.start, part.end).search(/:\s*\{/);
  return at < part.start ? undefined : mask.indexOf("{", at);
}

/** Formats a value as code: `{ command: "npx", args: ["-y"] }`. */
export function toSource(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSource).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const parts = Object.entries(value).map(([key, item]) => `${propertyName(key)}: ${toSource(item)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
