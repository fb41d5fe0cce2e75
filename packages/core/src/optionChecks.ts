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

/** Throws `invalid_argument` unless the argument is an object, such as a bag of options. */
export function objectArgument<T extends object>(name: string, value: T): T {
  if (typeof value === "object" && value !== null) return value;
  throw new AgentError("invalid_argument", `${name} must be an object, got ${describeValue(value)}.`);
}

/** Throws `invalid_argument` unless the option is an `AbortSignal` or absent. */
export function signalOption(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || typeof signal?.addEventListener === "function") return signal;
  throw new AgentError("invalid_argument", `signal must be an AbortSignal, got ${describeValue(signal)}.`);
}
