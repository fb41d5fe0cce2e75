import { quote } from "@agent/internal";
import type { ChatTool, JsonSchema } from "../../tools/tool.js";
import { checkObject, checkText, textsOf } from "../hostOptions/checks.js";

/**
 * Builds a tool's schema. Every property is required unless listed in `optional`, and unknown arguments are refused, so
 * that a misspelt one is an error instead of being ignored. Throws if `optional` names an unknown property.
 *
 * @example
 * ```ts
 * import { functionTool } from "@agent/core/toolkit";
 *
 * const schema = functionTool("mkdir", "Create a directory.", { path: { type: "string" } });
 * console.log(JSON.stringify(schema.function.parameters?.required)); // ["path"]
 * ```
 */
export function functionTool(
  name: string,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): ChatTool {
  checkText("name", name);
  checkText("description", description);
  checkObject("properties", properties);
  textsOf("strings")("optional", optional);
  const unknown = optional.find((key) => !Object.hasOwn(properties, key));
  if (unknown !== undefined) {
    throw new Error(
      `functionTool ${quote(name)}: optional names ${quote(unknown)}, which is not a property.`,
    );
  }
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return {
    type: "function",
    function: {
      name,
      description,
      parameters: { type: "object", properties, required, additionalProperties: false },
    },
  };
}
