import { describeValue, didYouMean, isRecord, quote, shorten } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import { isDeepEqual, ValueSet } from "./deepEqual.js";
import { arrayOf, patternOf, SchemaError, sizeOf, stringsOf } from "./keywords.js";
import { type Check, problem } from "./problem.js";
import { COST, type Work } from "./work.js";

// The number of allowed values a message lists.
const MOST_SHOWN = 30;
const LONGEST_SHOWN = 500;

const TYPES: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly words: string }>> =
  {
    string: { is: (value) => typeof value === "string", words: "a string" },
    number: { is: (value) => typeof value === "number" && Number.isFinite(value), words: "a number" },
    integer: { is: (value) => Number.isInteger(value), words: "a whole number" },
    boolean: { is: (value) => typeof value === "boolean", words: "true or false" },
    object: { is: isRecord, words: "an object" },
    array: { is: (value) => Array.isArray(value), words: "an array" },
    null: { is: (value) => value === null, words: "null" },
  };

/** `type`, `enum`, `const`, and the limits of numbers and strings. */
export function valueChecks(keywords: JsonSchema, where: string, work: Work): Check[] {
  const checks: Check[] = [];
  if (keywords.type !== undefined) checks.push(typeCheck(keywords, where));
  if (keywords.enum !== undefined) checks.push(enumCheck(arrayOf(keywords.enum, `${where}.enum`), work));
  if ("const" in keywords) checks.push(constCheck(keywords.const, work));
  checks.push(...numberChecks(keywords, where), ...stringChecks(keywords, where, work));
  return checks;
}

function typeCheck(keywords: JsonSchema, where: string): Check {
  const declared = keywords.type;
  const names = typeof declared === "string" ? [declared] : stringsOf(declared, `${where}.type`);
  const types = names.map((name) => {
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    if (type) return type;
    const hint = didYouMean(COMMON_MISTAKES.get(name) ?? name, Object.keys(TYPES), { otherwise: "" });
    throw new SchemaError(
      `${where}.type is ${quote(name)}, which is not a JSON Schema type${hint && `. ${hint}`}`,
    );
  });
  if (types.length === 0) throw new SchemaError(`${where}.type must name at least one type`);
  const words = expectedWords(keywords, types.map((type) => type.words).join(" or "));
  return (value) =>
    types.some((type) => type.is(value))
      ? undefined
      : problem(() => `must be ${words}, got ${describeValue(value)}.`);
}

// The names other type systems use, seen in real-world tool definitions.
const COMMON_MISTAKES: ReadonlyMap<string, string> = new Map([
  ["dict", "object"],
  ["map", "object"],
  ["float", "number"],
  ["double", "number"],
  ["int", "integer"],
  ["list", "array"],
  ["tuple", "array"],
  ["bool", "boolean"],
  ["str", "string"],
]);

/** "an array" becomes "an array of strings" if the schema defines its items. */
function expectedWords(keywords: JsonSchema, words: string): string {
  const items = keywords.items;
  return words === "an array" && isRecord(items) && items.type === "string" ? "an array of strings" : words;
}

function enumCheck(allowed: readonly unknown[], work: Work): Check {
  const values = new ValueSet(work);
  for (const item of allowed) values.add(item);
  const shown = allowed.slice(0, MOST_SHOWN).map(shortJson);
  const hidden = allowed.length - shown.length;
  const list = `${shown.join(", ")}${hidden > 0 ? ` (and ${hidden} more)` : ""}`;
  return (value) =>
    values.has(value) ? undefined : problem(() => `must be one of ${list}, got ${describeValue(value)}.`);
}

function constCheck(wanted: unknown, work: Work): Check {
  return (value) =>
    isDeepEqual(wanted, value, work)
      ? undefined
      : problem(() => `must be ${shortJson(wanted)}, got ${describeValue(value)}.`);
}

/** A value of the schema, shortened for a message. */
function shortJson(value: unknown): string {
  return shorten(JSON.stringify(value), LONGEST_SHOWN);
}

function numberChecks(keywords: JsonSchema, where: string): Check[] {
  const checks: Check[] = [];
  const limit = (name: string, words: string, fits: (value: number, bound: number) => boolean) => {
    const bound = keywords[name];
    if (bound === undefined) return;
    if (typeof bound !== "number") {
      throw new SchemaError(`${where}.${name} must be a number, got ${describeValue(bound)}`);
    }
    checks.push((value) =>
      typeof value !== "number" || fits(value, bound)
        ? undefined
        : problem(() => `must be ${words} ${bound}, got ${value}.`),
    );
  };
  limit("minimum", "at least", (value, bound) => value >= bound);
  limit("maximum", "at most", (value, bound) => value <= bound);
  limit("exclusiveMinimum", "greater than", (value, bound) => value > bound);
  limit("exclusiveMaximum", "less than", (value, bound) => value < bound);
  if (typeof keywords.multipleOf === "number" && !(keywords.multipleOf > 0)) {
    throw new SchemaError(`${where}.multipleOf must be greater than 0`);
  }
  limit("multipleOf", "a multiple of", isMultiple);
  return checks;
}

/** 0.3 is a multiple of 0.1, although the floating-point remainder says otherwise. */
function isMultiple(value: number, step: number): boolean {
  if (value % step === 0) return true;
  if (Number.isInteger(step)) return false;
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

function stringChecks(keywords: JsonSchema, where: string, work: Work): Check[] {
  const checks: Check[] = [];
  const min = sizeOf(keywords, "minLength", where);
  const max = sizeOf(keywords, "maxLength", where);
  if (min !== undefined) {
    checks.push((value) => {
      // A character is one or two UTF-16 units, so most texts need no counting.
      if (typeof value !== "string" || value.length >= min * 2 || countCharacters(value, work) >= min)
        return undefined;
      return problem(() =>
        min === 1
          ? "must not be empty."
          : `must have at least ${min} characters, got ${describeValue(value)}.`,
      );
    });
  }
  if (max !== undefined) {
    checks.push((value) => {
      if (typeof value !== "string" || value.length <= max) return undefined;
      const count = countCharacters(value, work);
      return count <= max ? undefined : problem(() => `must have at most ${max} characters, got ${count}.`);
    });
  }
  if (keywords.pattern !== undefined) {
    const shown = String(keywords.pattern).slice(0, LONGEST_SHOWN);
    const pattern = patternOf(keywords.pattern, `${where}.pattern`, work);
    checks.push((value) =>
      typeof value !== "string" || pattern.test(value) !== false
        ? undefined
        : problem(() => `must match ${shown}, got ${describeValue(value)}.`),
    );
  }
  return checks;
}

/** Characters, not UTF-16 units. */
function countCharacters(text: string, work: Work): number {
  work.spend(text.length * COST.character);
  let count = 0;
  for (const _character of text) count++;
  return count;
}
