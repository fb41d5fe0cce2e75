import { didYouMean, quote } from "@agent/internal";
import { AgentError } from "../../errors.js";
import { checkObject, type ValueCheck } from "./checks.js";

/** A check for each option. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: ValueCheck };

/**
 * Checks an options object: each option must pass its check, and none may be unknown, so that a misspelt one never
 * silently means the default. `owner` is the function or class that takes them, for the message. `prefix` is put before
 * the names of nested options: `servers.docs.`.
 *
 * @example
 * ```ts
 * import { check, checkOptions, errorMessage } from "@agent/core/toolkit";
 *
 * interface ClientOptions {
 *   readonly timeoutMs?: number;
 *   readonly fetch?: typeof fetch;
 * }
 *
 * function createClient(options: ClientOptions = {}): void {
 *   checkOptions("createClient", options, { timeoutMs: check.positive, fetch: check.function });
 * }
 *
 * try {
 *   createClient({ timeout: 1000 } as ClientOptions);
 * } catch (error) {
 *   console.log(errorMessage(error)); // createClient has no option "timeout". Did you mean "timeoutMs"?
 * }
 * ```
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  checks: OptionChecks<Options>,
  prefix = "",
): void {
  checkObject(prefix === "" ? "options" : prefix.slice(0, -1), options);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      const hint = didYouMean(name, Object.keys(checks));
      throw new AgentError("invalid_argument", `${owner} has no option ${quote(name)}. ${hint}`);
    }
    if (value !== undefined) checks[name as keyof Options](`${prefix}${name}`, value);
  }
}
