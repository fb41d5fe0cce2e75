import { isRecord } from "@agent/internal";
import { checkObject, invalidArgument } from "../../toolkit/hostOptions/checks.js";
import type { JsonSchema } from "../../tools/tool.js";

/** A schema in the form a server accepts, and the keywords that were removed. */
export interface AdaptedSchema {
  readonly schema: JsonSchema;
  readonly leftOut: readonly string[];
}

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const WITH_SCHEMA = new Set(["items", "additionalProperties", "contains", "not"]);
const WITH_LIST = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const WITH_NAMED = new Set(["properties", "$defs", "definitions", "patternProperties"]);
// Deeper schemas are cut off: a pack may declare one that contains itself.
const MAX_DEPTH = 64;

/** The earlier name of `$defs`, and the beginning of references into it. */
const EARLIER_DEFS = "definitions";
const EARLIER_REF = /^#\/definitions\//;

/**
 * Returns a schema with only the keywords a server supports. `const` becomes an `enum` of one and `definitions` become
 * `$defs` if the server supports only the other form.
 */
export function pickKeywords(schema: JsonSchema, known: ReadonlySet<string>): AdaptedSchema {
  checkObject("schema", schema);
  if (!(known instanceof Set)) throw invalidArgument("known", "a Set of keywords", known);
  const leftOut = new Set<string>();
  return { schema: pick(schema, known, leftOut, 0), leftOut: [...leftOut].sort() };
}

function pick(
  schema: JsonSchema,
  known: ReadonlySet<string>,
  leftOut: Set<string>,
  depth: number,
): JsonSchema {
  const result: Record<string, unknown> = {};
  if (depth > MAX_DEPTH) return result;
  const inner = (value: unknown): unknown =>
    isRecord(value) ? pick(value, known, leftOut, depth + 1) : value;
  const named = (schemas: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, inner(one)]));
  const renamesDefs = !known.has(EARLIER_DEFS) && known.has("$defs");
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === EARLIER_DEFS && renamesDefs && isRecord(value)) {
      result.$defs = { ...(isRecord(result.$defs) && result.$defs), ...named(value) };
    } else if (!known.has(keyword)) {
      if (keyword === "const" && known.has("enum")) result.enum = [value];
      else leftOut.add(keyword);
    } else if (keyword === "$defs" && isRecord(value)) {
      result.$defs = { ...(isRecord(result.$defs) && result.$defs), ...named(value) };
    } else if (keyword === "$ref" && renamesDefs && typeof value === "string") {
      result.$ref = value.replace(EARLIER_REF, "#/$defs/");
    } else if (WITH_SCHEMA.has(keyword)) result[keyword] = inner(value);
    else if (WITH_LIST.has(keyword) && Array.isArray(value)) result[keyword] = value.map(inner);
    else if (WITH_NAMED.has(keyword) && isRecord(value)) {
      result[keyword] = named(value);
    } else result[keyword] = value;
  }
  return result;
}
