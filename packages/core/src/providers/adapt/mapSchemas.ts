import { isRecord } from "@agent/internal";
import { checkFunction } from "../../toolkit/hostOptions/checks.js";

// The values of the first keywords are not schemas; those of the others map names to schemas.
const WITH_VALUES = new Set(["enum", "const", "required", "default", "examples"]);
const WITH_NAMED = new Set(["properties", "$defs", "definitions", "patternProperties"]);
// Deeper schemas are cut off: a pack may declare one that contains itself.
const MAX_DEPTH = 64;

/** A schema with `change` applied to every schema inside it and then to itself. */
export function mapSchemas(
  schema: unknown,
  change: (schema: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  checkFunction("change", change);
  return map(schema, change, 0);
}

function map(
  schema: unknown,
  change: (schema: Record<string, unknown>) => Record<string, unknown>,
  depth: number,
): unknown {
  const inner = (value: unknown): unknown => map(value, change, depth + 1);
  if (depth > MAX_DEPTH) return {};
  if (Array.isArray(schema)) return schema.map(inner);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (WITH_VALUES.has(keyword)) return [keyword, value];
    if (!WITH_NAMED.has(keyword) || !isRecord(value)) return [keyword, inner(value)];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))];
  });
  return change(Object.fromEntries(entries));
}
