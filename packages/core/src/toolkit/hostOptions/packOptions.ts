import { describeValue, errorMessage, isRecord } from "@agent/internal";
import { AgentError } from "../../errors.js";
import type { JsonSchema } from "../../tools/tool.js";
import { checkOnce } from "../jsonSchema/compile.js";
import { checkObject, checkText } from "./checks.js";

/**
 * Checks a pack's options and returns them typed. An unknown or mistyped option is an error that names the pack, so
 * that a typo never silently means "no limit".
 *
 * @example
 * ```ts
 * import { packOptions } from "@agent/core/toolkit";
 *
 * // In a pack's register(registry, host) these are host?.options.
 * const fromConfig: unknown = { root: "notes" };
 * const { root } = packOptions<{ root?: string }>("my-pack", fromConfig, { root: { type: "string" } });
 * console.log(root ?? "no root"); // notes
 * ```
 */
export function packOptions<Options extends object>(
  packName: string,
  options: unknown,
  properties: Readonly<Record<string, JsonSchema>>,
): Options {
  checkText("packName", packName);
  checkObject("properties", properties);
  const schema = { type: "object", properties, additionalProperties: false };
  return readOptions(packName, options, schema) as Options;
}

/** The options of a pack, checked against its schema. Throws `invalid_argument`, naming the pack and the option. */
export function readOptions(packName: string, given: unknown, schema: JsonSchema): Record<string, unknown> {
  const options = optionsObject(packName, given);
  // A preset passes options to each pack, and most are empty.
  if (schema.required === undefined && Object.keys(options).length === 0) return options;
  let problem: string | undefined;
  try {
    // An unknown option is an error, whether or not the schema forbids it.
    const closed = isRecord(schema.properties) ? { additionalProperties: false, ...schema } : schema;
    problem = checkOnce(closed, "options", options);
  } catch (error) {
    throw new AgentError(
      "pack_invalid",
      `${packName}: the schema of its options is not valid: ${errorMessage(error)}`,
    );
  }
  if (problem !== undefined) throw new AgentError("invalid_argument", `${packName}: option ${problem}`);
  return options;
}

/** The options object, which may be absent. Throws `invalid_argument` for anything but an object. */
export function optionsObject(packName: string, options: unknown): Record<string, unknown> {
  if (options === undefined) return {};
  if (isRecord(options)) return options;
  throw new AgentError(
    "invalid_argument",
    `${packName}: options must be an object, got ${describeValue(options)}.`,
  );
}
