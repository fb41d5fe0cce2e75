import type { JsonSchema } from "@agent/core";

/**
 * A text as the value its schema asks for: `5` for an integer, `true` for a boolean, JSON for an object or an
 * array (a plain text becomes an array of one). A text that does not fit stays a text, and the tool's validation
 * reports it.
 */
export function parseArgument(text: string, schema: JsonSchema | undefined): unknown {
  const types = typesOf(schema);
  if (types.includes("string")) return text;
  if (types.includes("boolean") && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (
    (types.includes("number") || types.includes("integer")) &&
    text.trim() !== "" &&
    !Number.isNaN(Number(text))
  ) {
    return Number(text);
  }
  if (types.includes("array") && !text.trim().startsWith("["))
    return [parseArgument(text, schema?.items as JsonSchema)];
  if (types.length === 0 || types.includes("object") || types.includes("array") || types.includes("null")) {
    return parseJsonOr(text);
  }
  return text;
}

export function typesOf(schema: JsonSchema | undefined): readonly string[] {
  const type = schema?.type;
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
}

function parseJsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
