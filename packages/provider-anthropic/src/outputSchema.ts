import type { JsonSchema } from "@agent/core";
import { isRecord, mapSchemas, pickKeywords } from "@agent/core/provider";

/** The keywords that the server enforces in a structured answer. It refuses others; the agent validates them all. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "$ref",
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "description",
  "enum",
  "format",
  "items",
  "properties",
  "required",
  "title",
  "type",
]);
const FORMATS = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/;

/** A schema that the server accepts for structured answers: objects are closed, keywords it cannot enforce are removed. */
export function outputSchema(schema: JsonSchema): JsonSchema {
  return closeObjects(pickKeywords(withAnyOf(schema), KEYWORDS).schema) as JsonSchema;
}

/** Replaces `oneOf`, which the server refuses, by `anyOf`. */
function withAnyOf(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, ({ oneOf, ...rest }) =>
    oneOf === undefined || rest.anyOf !== undefined ? rest : { ...rest, anyOf: oneOf },
  ) as JsonSchema;
}

function closeObjects(schema: unknown): unknown {
  return mapSchemas(schema, (one) => {
    const { format, ...rest } = one;
    const known = typeof format === "string" && FORMATS.test(format) ? { ...rest, format } : rest;
    return known.type === "object" || isRecord(known.properties)
      ? { ...known, additionalProperties: false }
      : known;
  });
}
