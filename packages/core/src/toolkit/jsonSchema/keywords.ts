import { describeValue, isRecord } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import type { Check } from "./problem.js";
import type { Work } from "./work.js";

/** A schema that is not valid JSON Schema, or uses a keyword this validator does not implement. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** Compiles one sub-schema; `where` locates it in messages (`parameters.properties.path`). */
export type CompileSub = (schema: unknown, where: string) => Check;

/** The entries of a keyword that maps names to something. */
export function entriesOf(value: unknown, where: string): [string, unknown][] {
  if (!isRecord(value)) throw new SchemaError(`${where} must be an object, got ${describeValue(value)}`);
  return Object.entries(value);
}

/** A keyword that must be a whole number of at least 0. */
export function sizeOf(keywords: JsonSchema, name: string, where: string): number | undefined {
  const value = keywords[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw new SchemaError(
      `${where}.${name} must be a whole number of at least 0, got ${describeValue(value)}`,
    );
  }
  return value;
}

/** A keyword that must be true or false; absent is false. */
export function booleanOf(keywords: JsonSchema, name: string, where: string): boolean {
  const value = keywords[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new SchemaError(`${where}.${name} must be true or false, got ${describeValue(value)}`);
}

/** A keyword that must be an array. */
export function arrayOf(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw new SchemaError(`${where} must be an array, got ${describeValue(value)}`);
  return value;
}

export function stringsOf(value: unknown, where: string): string[] {
  return arrayOf(value, where).map((item, index) => {
    if (typeof item === "string") return item;
    throw new SchemaError(`${where}[${index}] must be a string, got ${describeValue(item)}`);
  });
}

/** A regular expression keyword, as the JSON Schema dialect of ECMAScript. */
export function patternOf(source: unknown, where: string, work: Work): TextPattern {
  if (typeof source !== "string") {
    throw new SchemaError(`${where} must be a string, got ${describeValue(source)}`);
  }
  const pattern = compilePattern(source, work);
  if (pattern) return pattern;
  throw new SchemaError(`${where} is not a valid regular expression: ${source}`);
}

// V8 matches by backtracking. Beyond this number of steps (about 50 milliseconds) checking a text is left to the tool.
const MAX_STEPS = 20_000_000;

// The cost of a step of the matcher in steps of `Work`.
const STEP_COST = 0.1;

// One token of a pattern: an escape, a class, the start of a group, or a quantifier.
const TOKEN =
  /\\(?:k<|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>)?)?|[*+?]\??|\{\d+(?:,\d*)?\}\??|[\s\S]/g;

const REFERENCE = /^\\[1-9k]/;

const QUANTIFIER = /^(?:[*+?]\??|\{\d+(?:,\d*)?\}\??)$/;

const FIXED = /^\{\d+\}/;

const LEAST_COUNT = /^\{(\d+)/;

// Patterns of ordinary length count as one step for each start position.
const FREE_SIZE = 64;

/** A regular expression of a schema. */
interface TextPattern {
  /** Whether `text` contains a match; `undefined` if finding out could take too long. */
  test(text: string): boolean | undefined;
}

/** Compiles an ECMAScript pattern. Returns `undefined` if it is not a regular expression. */
function compilePattern(source: string, work: Work): TextPattern | undefined {
  const expression = toExpression(source);
  if (!expression) return undefined;
  const cost = backtrackingCost(source);
  return {
    test(text) {
      if (cost === "exponential") return undefined;
      const steps = cost.choices * cost.size * Math.max(1, text.length) ** cost.degree;
      if (steps > MAX_STEPS) return undefined;
      work.spend(steps * STEP_COST);
      try {
        return expression.test(text);
      } catch {
        // V8 refuses some patterns only when they run: "Regular expression too large".
        return undefined;
      }
    },
  };
}

/** Patterns written for other dialects escape more than the "u" flag allows; those are compiled without it. */
function toExpression(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Try without the flag.
    }
  }
  return undefined;
}

interface BacktrackingCost {
  /** The power of the text's length: one for each repetition, and one for the start position. */
  readonly degree: number;
  /** The number of combinations of alternatives and optional parts. */
  readonly choices: number;
  /** The factor by which the pattern grows when its counted parts are expanded: `(a{9}b){9}` has 90 parts. */
  readonly size: number;
}

interface Group {
  /** Whether the same text can match in several ways: the group must not be repeated. */
  hasChoice: boolean;
  alternatives: number;
  /** The number of its parts, with counted parts expanded. */
  size: number;
}

/**
 * Bounds the steps of V8's matcher: `choices * size * length ** degree`. Exponential if a repeated group has several ways to
 * match (`(a+)+`, `(a|a)*`), and with back-references.
 */
function backtrackingCost(source: string): BacktrackingCost | "exponential" {
  let degree = source.startsWith("^") ? 0 : 1;
  let choices = 1;
  let parts = 0;
  let current: Group = { hasChoice: false, alternatives: 1, size: 0 };
  let closed: Group | undefined;
  const outer: Group[] = [];
  for (const [token] of source.matchAll(TOKEN)) {
    const repeated = closed;
    closed = undefined;
    if (REFERENCE.test(token)) return "exponential";
    if (token.startsWith("(")) {
      outer.push(current);
      // The group itself is a part: matching nothing many times takes time too.
      current = { hasChoice: false, alternatives: 1, size: 1 };
      parts++;
    } else if (token === ")") {
      choices *= current.alternatives;
      closed = current;
      current = outer.pop() ?? current;
      current.hasChoice ||= closed.hasChoice;
      current.size += closed.size;
    } else if (token === "|") {
      current.alternatives++;
      current.hasChoice = true;
      // Only the first alternative starts with the anchor.
      if (outer.length === 0) degree = Math.max(degree, 1);
    } else if (QUANTIFIER.test(token)) {
      const isOptional = token.startsWith("?");
      const isFixed = FIXED.test(token);
      if (repeated?.hasChoice && !isOptional) return "exponential";
      const count = Math.min(Number(LEAST_COUNT.exec(token)?.[1] ?? 1), MAX_STEPS);
      current.size += (repeated?.size ?? 1) * Math.max(0, count - 1);
      if (isFixed) continue;
      current.hasChoice = true;
      if (isOptional) choices *= 2;
      else degree++;
    } else {
      current.size++;
      parts++;
    }
  }
  const size = Math.max(1, current.size - Math.min(parts, FREE_SIZE));
  return { degree, choices: choices * current.alternatives, size };
}
