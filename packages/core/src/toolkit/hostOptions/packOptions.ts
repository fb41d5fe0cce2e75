import { describeValue, isRecord } from "@agent/internal";
import { AgentError } from "../../errors.js";
import type { JsonSchema } from "../../tools/interface.js";
import { compileSchema } from "../jsonSchema/compile.js";
import { checkObject, checkText } from "./checks.js";

/**
 * Checks a pack's options block and returns it typed. An unknown or mistyped option is an error that names
 * the pack, so that a typing mistake never silently means "no limit".
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
  if (options === undefined) return {} as Options;
  if (!isRecord(options)) {
    throw new AgentError(
      "invalid_argument",
      `${packName}: options must be an object, got ${describeValue(options)}.`,
    );
  }
  // A preset passes an options block to each pack, and most are empty: then no schema is compiled.
  if (Object.keys(options).length === 0) return {} as Options;
  const check = compileSchema({ type: "object", properties, additionalProperties: false });
  const problem = check(options);
  if (problem !== undefined) throw new AgentError("invalid_argument", `${packName}: option ${problem}`);
  return options as Options;
}
