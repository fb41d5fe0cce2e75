import { describeValue, isRecord } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import { compilePattern, type TextPattern } from "./pattern.js";
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
