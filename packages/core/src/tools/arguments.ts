import { describeValue, isRecord, quote } from "@agent/internal";
import { compileSchema } from "../toolkit/jsonSchema/compile.js";
import type { JsonSchema } from "./tool.js";

/** The maximum nesting depth of arguments. */
export const MAX_ARGUMENT_DEPTH = 256;

/**
 * A deep copy of JSON-like arguments, so that a tool may change them. Throws for values that JSON cannot represent, for
 * values nested too deeply, and for `__proto__`, which only an attacker sends.
 */
export function copyArguments(args: unknown): Record<string, unknown> {
  if (args === undefined) return {};
  if (!isRecord(args)) throw new Error(`the arguments must be an object, got ${describeValue(args)}.`);
  return copyJson(args, 0) as Record<string, unknown>;
}

function copyJson(value: unknown, depth: number): unknown {
  if (
    value === null ||
    value === undefined ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return value;
  }
  if (typeof value !== "object") {
    throw new Error(`the arguments must be JSON values, got ${describeValue(value)}.`);
  }
  if (depth > MAX_ARGUMENT_DEPTH)
    throw new Error(`the arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new Error(`${quote(key)} is not allowed as an argument name.`);
    copy[key] = copyJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return copy;
}

const MAX_PROBLEMS = 8;
const MAX_SHOWN = 20;

/**
 * Describes everything that is wrong with the arguments in one message: the first problem, the others, and the expected
 * shape. The model can then correct the call in one attempt.
 */
export function describeProblems(
  parameters: JsonSchema,
  args: Readonly<Record<string, unknown>>,
  first: string,
): string {
  const { properties, required: _, ...rest } = parameters;
  const known = isRecord(properties) ? properties : {};
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const missing = required.filter((name) => !Object.hasOwn(args, String(name)));
  const wrong = Object.keys(args).flatMap((name) => {
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    if (schema === undefined) return [];
    const check = compileSchema({ ...rest, additionalProperties: true, properties: { [name]: schema } });
    return check({ [name]: args[name] }) ?? [];
  });
  const problems = [
    first,
    ...missing.map((name) => `${quote(String(name))} is required.`),
    ...wrong,
    ...unknownNames(parameters, known, args).map((name) => `There is no argument ${quote(name)}.`),
  ];
  const others = problems.slice(1).filter((problem) => !isSame(problem, first));
  const shape = shapeOf(known, required);
  return [first, ...others.slice(0, MAX_PROBLEMS), ...(shape === "" ? [] : [`Expected: ${shape}`])].join(" ");
}

function unknownNames(
  { additionalProperties }: JsonSchema,
  known: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): string[] {
  return additionalProperties === false
    ? Object.keys(args).filter((name) => !Object.hasOwn(known, name))
    : [];
}

/** Whether two sentences are about the same argument. */
function isSame(a: string, b: string): boolean {
  const subject = (text: string): string | undefined => /"([^"]+)"/.exec(text)?.[1];
  return a === b || (subject(a) !== undefined && subject(a) === subject(b));
}

/** `{ path: string, limit?: integer, edits?: [{ old_text: string }] }` */
function shapeOf(properties: Readonly<Record<string, unknown>>, required: readonly unknown[]): string {
  const names = Object.keys(properties);
  if (names.length === 0) return "";
  const shown = names.slice(0, MAX_SHOWN).map((name) => {
    return `${name}${required.includes(name) ? "" : "?"}: ${typeName(properties[name])}`;
  });
  return `{ ${[...shown, ...(names.length > MAX_SHOWN ? ["…"] : [])].join(", ")} }`;
}

function typeName(schema: unknown): string {
  if (!isRecord(schema)) return "any";
  if (Array.isArray(schema.enum))
    return schema.enum
      .slice(0, MAX_SHOWN)
      .map((one) => JSON.stringify(one))
      .join(" | ");
  const { type, items, properties, required } = schema;
  if (type === "array") return `[${typeName(items)}]`;
  if (type === "object" && isRecord(properties))
    return shapeOf(properties, Array.isArray(required) ? required : []) || "object";
  return Array.isArray(type) ? type.join(" | ") : typeof type === "string" ? type : "any";
}

type Arguments = Record<string, unknown>;

/** Arguments that were repaired in the only way that matches the schema, and the changes. */
interface Repaired {
  readonly args: Arguments;
  /** One clause for each change: `"file_path" as "path"`. */
  readonly notes: readonly string[];
}

/** Synonyms that models use for the same argument. A name in the schema matches any other name in its row. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["path", "filepath", "file", "filename", "targetfile", "absolutepath"],
  ["paths", "files", "filepaths"],
  ["directory", "dir", "folder", "path", "dirpath", "directorypath", "folderpath"],
  ["source", "src", "from", "sourcepath", "oldpath"],
  ["destination", "dest", "dst", "to", "destinationpath", "newpath"],
  ["oldtext", "oldstring", "oldstr", "search", "find"],
  ["newtext", "newstring", "newstr", "replace", "replacement"],
  ["content", "contents", "filetext", "text", "filecontent"],
  ["command", "cmd", "script", "bash"],
  ["arguments", "args"],
  ["pattern", "regex", "query", "searchterm"],
  ["pattern", "glob"],
  ["glob", "include", "filepattern", "globpattern"],
  ["url", "uri", "link"],
];
/** Names of one thing: a schema with several of them accepts any. */
const SAME = ["cwd", "workdir", "workingdirectory"];
/** What models write where they mean nothing. */
const NOTHING = /^(?:|null|none|undefined)$/i;
/** The beginning of a command line that is written as the list of its words. */
const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh$/;
/** Names that models put around the whole of the arguments. */
const WRAPPERS = ["input", "arguments", "args", "parameters", "params"];
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/**
 * Repairs arguments that do not match their schema; `undefined` if nothing in them has exactly one other
 * interpretation.
 */
export function repairArguments(parameters: JsonSchema, args: Arguments): Repaired | undefined {
  const notes: string[] = [];
  const repaired = repairObject(parameters, unwrapped(parameters, args, notes), "", notes);
  return notes.length === 0 ? undefined : { args: repaired, notes };
}

/** The arguments inside an object that has one of them, if the schema has no such property. */
function unwrapped(parameters: JsonSchema, args: Arguments, notes: string[]): Arguments {
  const [[name, value] = ["", undefined], another] = Object.entries(args);
  const isKnown = isRecord(parameters.properties) && Object.hasOwn(parameters.properties, name);
  const inner = typeof value === "string" ? parsedJson(value.trim()) : value;
  if (another !== undefined || isKnown || !WRAPPERS.includes(name) || !isRecord(inner)) return args;
  notes.push(`the content of ${quote(name)} as the arguments`);
  return inner;
}

/**
 * Cleans paths: removes quotes around them, a trailing line break and the `file:` scheme. Only arguments that the tool
 * declares as paths are changed.
 */
export function cleanPaths(args: Arguments, names: readonly string[]): Repaired | undefined {
  const notes: string[] = [];
  const cleaned: Arguments = {};
  for (const [name, value] of Object.entries(args)) {
    if (!names.includes(name)) continue;
    const clean = Array.isArray(value) ? value.map(cleanPath) : cleanPath(value);
    if (JSON.stringify(clean) === JSON.stringify(value)) continue;
    cleaned[name] = clean;
    notes.push(`${quote(name)} as ${quote(Array.isArray(clean) ? clean.join(", ") : String(clean))}`);
  }
  return notes.length === 0 ? undefined : { args: { ...args, ...cleaned }, notes };
}

function cleanPath(value: unknown): unknown {
  if (typeof value !== "string" || !/^(["'`]|file:\/\/)|[\r\n]$/.test(value)) return value;
  const line = value.replace(/[\r\n]+$/, "");
  const bare = /^(["'`])([^"'`]+)\1$/.exec(line)?.[2] ?? line;
  if (!bare.startsWith("file://")) return bare;
  try {
    const { host, pathname } = new URL(bare);
    return host === "" || host === "localhost" ? decodeURIComponent(pathname) : value;
  } catch {
    return value;
  }
}

function repairObject(schema: JsonSchema, value: Arguments, where: string, notes: string[]): Arguments {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const renamed = renameKeys(
    value,
    properties,
    required,
    schema.additionalProperties === false,
    where,
    notes,
  );
  const result: Arguments = {};
  for (const [name, given] of Object.entries(renamed)) {
    const sub = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isRecord(sub)) {
      result[name] = given;
      continue;
    }
    if (
      given === null &&
      !required.includes(name) &&
      !typesOf(sub).includes("null") &&
      sub.type !== undefined
    ) {
      notes.push(`${quote(where + name)} as absent, because it was null`);
      continue;
    }
    const isText = typeof given === "string" && NOTHING.test(given.trim());
    if (isText && !required.includes(name) && /^(number|integer|boolean)$/.test(typesOf(sub).join())) {
      const was = given.trim() === "" ? "empty" : quote(given);
      notes.push(`${quote(where + name)} as absent, because it was ${was}`);
      continue;
    }
    result[name] = repairValue(sub, given, where + name, notes);
  }
  return result;
}

/** Renames an unknown key to the one missing property that it can mean. */
function renameKeys(
  value: Arguments,
  properties: Readonly<Record<string, unknown>>,
  required: readonly unknown[],
  isClosed: boolean,
  where: string,
  notes: string[],
): Arguments {
  const names = Object.keys(properties);
  const entries = Object.entries(value).map(([key, given]) => {
    if (Object.hasOwn(properties, key)) return [key, given] as const;
    const fitting = (written: string): string[] =>
      names.filter(
        (name) =>
          !Object.hasOwn(value, name) &&
          (isClosed || required.includes(name)) &&
          isSynonym(written, name) &&
          isReadable(properties[name], given, name),
      );
    const found = fitting(key);
    const [target, another] =
      [
        found.filter((name) => plainName(name) === plainName(key)),
        // A tool that expects a text to look for may also have a pattern for the names of files.
        found.length > 1 ? found.filter((name) => required.includes(name)) : [],
        found.every((name) => SAME.includes(plainName(name))) ? found.slice(0, 1) : found,
        // One path where the tool expects "paths", and a list of one where it expects "path".
        fitting(`${key}s`),
        fitting(key.replace(/s$/, "")),
      ].find((some) => some.length > 0) ?? [];
    if (target === undefined || another !== undefined) return [key, given] as const;
    notes.push(`${quote(where + key)} as ${quote(where + target)}`);
    return [target, given] as const;
  });
  // Two keys for one property: the intended one is ambiguous.
  return new Set(entries.map(([key]) => key)).size === entries.length ? Object.fromEntries(entries) : value;
}

/** Whether a value has the type of a property, or can be read as one. */
function isReadable(schema: unknown, value: unknown, name: string): boolean {
  if (!isRecord(schema) || value === null) return true;
  const [type, ...others] = typesOf(schema);
  const kind = kindOf(value);
  if (type === undefined || others.length > 0 || type === kind) return true;
  return (type === "integer" && kind === "number") || readAs(type, schema, value, kind, name) !== undefined;
}

function isSynonym(key: string, name: string): boolean {
  const [a, b] = [plainName(key), plainName(name)];
  return a === b || [SAME, ...SYNONYMS].some((row) => row.includes(a) && row.includes(b));
}

function plainName(name: string): string {
  return name.replace(/[_-]/g, "").toLowerCase();
}

function repairValue(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  where: string,
  notes: string[],
): unknown {
  const types = typesOf(schema);
  const kind = kindOf(value);
  const [type] = types;
  if (types.includes(kind) || (kind === "number" && types.includes("integer"))) {
    if (isRecord(value)) return repairObject(schema as JsonSchema, value, `${where}.`, notes);
    const { items } = schema;
    if (Array.isArray(value) && isRecord(items)) {
      return value.map((item, index) => repairValue(items, item, `${where}[${index}]`, notes));
    }
    return value;
  }
  if (types.length !== 1 || type === undefined) return value;
  const read = readAs(type, schema, value, kind, where);
  if (read === undefined) return value;
  notes.push(`${quote(where)} as ${read.as}`);
  return repairValue(schema, read.value, where, notes);
}

/** The only interpretation of a value as another type. */
function readAs(
  type: string,
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  kind: string,
  where: string,
): { readonly value: unknown; readonly as: string } | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  switch (type) {
    case "number":
    case "integer":
      // A longer number, such as an id, would be rounded.
      return NUMBER.test(text) && (text.includes(".") || Number.isSafeInteger(Number(text)))
        ? { value: Number(text), as: `the number ${text}` }
        : undefined;
    case "boolean":
      return /^(true|false)$/i.test(text)
        ? { value: text.toLowerCase() === "true", as: text.toLowerCase() }
        : undefined;
    case "string":
      // Of 1.10 only 1.1 is left, and of a long number only its first digits.
      if (Number.isSafeInteger(value) || kind === "boolean") return { value: String(value), as: "text" };
      // The content of a file may be meant as a list in JSON.
      if (isSynonym("content", where)) return undefined;
      if (Array.isArray(value) && value.length === 1 && typeof value[0] === "string")
        return { value: value[0], as: "its only item" };
      return isSynonym("command", where) ? shellScript(value) : undefined;
    case "object": {
      const parsed = parsedJson(text);
      return isRecord(parsed) ? { value: parsed, as: "an object, which was written as text" } : undefined;
    }
    case "array": {
      const parsed = parsedJson(text);
      if (Array.isArray(parsed)) return { value: parsed, as: "a list, which was written as text" };
      if (value === null || value === undefined) return undefined;
      const itemTypes = isRecord(schema.items) ? typesOf(schema.items) : [];
      // A text with commas or line breaks may be one item or several.
      const isOne = typeof value !== "string" || !/[,\n[\]{}]/.test(value);
      return itemTypes.includes(kind) && isOne ? { value: [value], as: "a list with one item" } : undefined;
    }
    default:
      return undefined;
  }
}

/** The script of `["bash", "-lc", "npm test"]`. */
function shellScript(value: unknown): { readonly value: string; readonly as: string } | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [shell, flag, script]: unknown[] = value;
  const isScript = typeof shell === "string" && SHELL.test(shell) && (flag === "-c" || flag === "-lc");
  return isScript && typeof script === "string" ? { value: script, as: "its script" } : undefined;
}

function parsedJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function typesOf(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const { type } = schema;
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
