import type { OutputFormat } from "@agent/core";
import { isRecord } from "@agent/core/provider";

/** The keywords that strict mode supports, as documented for the API. A schema with any other is refused. */
const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "$ref",
  "$schema",
  "additionalProperties",
  "anyOf",
  "const",
  "definitions",
  "description",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "multipleOf",
  "pattern",
  "properties",
  "required",
  "title",
  "type",
]);
const STRICT_FORMATS = /^(date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/;
const MAX_DEPTH = 10;

/** A structured answer in the API's own format: enforced in strict mode if the schema allows that. */
export function jsonSchemaFormat({ name, schema }: OutputFormat) {
  const isPlainObject = schema.type === "object" && schema.anyOf === undefined;
  return { name, schema, strict: isPlainObject && fitsStrictMode(schema, 0) };
}

/** Strict mode requires a type everywhere, every property required and no others allowed, recursively. */
function fitsStrictMode(schema: unknown, depth: number): boolean {
  if (!isRecord(schema) || depth > MAX_DEPTH) return false;
  if (!Object.keys(schema).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  const { type, anyOf, $ref, format, items, properties, $defs, definitions } = schema;
  if (type === undefined && anyOf === undefined && $ref === undefined) return false;
  if (format !== undefined && !STRICT_FORMATS.test(String(format))) return false;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes("array") && !isRecord(items)) return false;
  if ((types.includes("object") || properties !== undefined) && !isClosed(schema)) return false;
  const inside = [
    ...[properties, $defs, definitions].flatMap((named) => (isRecord(named) ? Object.values(named) : [])),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...(items === undefined ? [] : [items]),
  ];
  return inside.every((one) => fitsStrictMode(one, depth + 1));
}

function isClosed({ properties, required, additionalProperties }: Record<string, unknown>): boolean {
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  return Object.keys(isRecord(properties) ? properties : {}).every((name) => required.includes(name));
}
