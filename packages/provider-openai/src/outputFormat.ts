import type { OutputFormat } from "@agent/core";
import { isRecord } from "@agent/core/provider";

/** Keywords that strict mode refuses, or that make a schema one it cannot enforce. */
const NOT_STRICT = new Set(["allOf", "not", "if", "then", "else", "oneOf", "patternProperties", "default"]);

/** A structured answer in the API's own form: enforced exactly where the schema allows that. */
export function jsonSchemaFormat({ name, schema }: OutputFormat) {
  return { name, schema, strict: schema.type === "object" && fitsStrictMode(schema) };
}

/** Strict mode wants every property required and no others allowed, all the way down. */
function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (!isRecord(schema)) return true;
  if (Object.keys(schema).some((keyword) => NOT_STRICT.has(keyword))) return false;
  const { properties, required, additionalProperties, type } = schema;
  if (type === "object" || properties !== undefined) {
    const names = isRecord(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    if (!names.every((name) => required.includes(name))) return false;
    if (isRecord(properties) && !Object.values(properties).every(fitsStrictMode)) return false;
  }
  return [schema.items, schema.anyOf, isRecord(schema.$defs) ? Object.values(schema.$defs) : []].every(
    fitsStrictMode,
  );
}
