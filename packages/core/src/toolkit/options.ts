import { AgentError } from "../errors.js";
import { checkObject, type ValueCheck } from "./checks.js";
import { quote } from "./describe.js";
import { didYouMean } from "./nearest.js";

/** A check for each option there is. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: ValueCheck };

/**
 * Checks a bag of options: each that is given must pass its check, and none may be unknown, so that a misspelt
 * one never silently means the default. `owner` is who takes them, for the message.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  checks: OptionChecks<Options>,
): void {
  checkObject("options", options);
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      const hint = didYouMean(name, Object.keys(checks));
      throw new AgentError("invalid_argument", `${owner} has no option ${quote(name)}. ${hint}`);
    }
    if (value !== undefined) checks[name as keyof Options](name, value);
  }
}
