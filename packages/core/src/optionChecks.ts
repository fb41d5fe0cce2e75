import { AgentError } from "./errors.js";
import { describeValue } from "./toolkit/describe.js";

/** Throws `invalid_argument` unless the option is a number greater than 0; `Infinity` is one. */
export function positiveOption(name: string, value: number): number {
  if (typeof value === "number" && value > 0) return value;
  throw new AgentError(
    "invalid_argument",
    `${name} must be a number greater than 0, got ${describeValue(value)}.`,
  );
}

/** Throws `invalid_argument` unless the option is a string. */
export function textOption(name: string, value: string): string {
  if (typeof value === "string") return value;
  throw new AgentError("invalid_argument", `${name} must be a string, got ${describeValue(value)}.`);
}
