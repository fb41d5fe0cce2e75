import type { JsonSchema } from "@agent/core";
import { type AdaptedSchema, isRecord, mapSchemas, pickKeywords } from "@agent/core/provider";

/** The part of JSON Schema that the API documents, for parameters and structured answers alike. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "$anchor",
  "$defs",
  "$id",
  "$ref",
  "additionalProperties",
  "anyOf",
  "description",
  "enum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "oneOf",
  "prefixItems",
  "properties",
  "propertyOrdering",
  "required",
  "title",
  "type",
]);
// Annotations restrict nothing, so dropping them needs no notice.
const REMARKS: ReadonlySet<string> = new Set(["$schema", "$comment", "default", "examples", "deprecated"]);

/** A schema that the API accepts, and the keywords that were removed from it. */
export function googleSchema(schema: JsonSchema | undefined): AdaptedSchema {
  const adapted = pickKeywords({ type: "object", properties: {}, ...schema }, KEYWORDS);
  const leftOut = new Set(adapted.leftOut.filter((keyword) => !REMARKS.has(keyword)));
  const { $ref: top, ...own } = adapted.schema;
  const fitting = mapSchemas(own, (one) => fitSchema(one, leftOut)) as JsonSchema;
  return { schema: { ...fitting, ...definition(fitting, top) }, leftOut: [...leftOut].sort() };
}

/** What a reference at the top of a schema means: there it has neighbours, such as the definitions themselves. */
function definition({ $defs: known }: JsonSchema, reference: unknown): JsonSchema {
  const name = typeof reference === "string" ? reference.replace("#/$defs/", "") : "";
  const found = isRecord(known) && Object.hasOwn(known, name) ? known[name] : undefined;
  return isRecord(found) ? found : {};
}

/** The API takes nothing beside a reference, and lists of strings and numbers only. */
function fitSchema(schema: Record<string, unknown>, leftOut: Set<string>): Record<string, unknown> {
  const { enum: values, ...rest } = schema;
  if (schema.$ref !== undefined) {
    return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword.startsWith("$")));
  }
  if (!Array.isArray(values) || values.every(isListed)) return schema;
  leftOut.add("enum");
  return rest;
}

function isListed(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
