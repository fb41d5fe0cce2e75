import type { JsonSchema } from "@agent/core";
import { type AdaptedSchema, pickKeywords } from "@agent/core/provider";

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
  return { ...adapted, leftOut: adapted.leftOut.filter((keyword) => !REMARKS.has(keyword)) };
}
