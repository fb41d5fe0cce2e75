import { describeValue, isRecord } from "@agent/internal";
import { AgentError } from "../../errors.js";
import type { ChatRequest, Effort } from "../../providers/interface.js";
import type { PackRegistry } from "../../tools/pack.js";

/** The reasoning efforts, from least to most. */
export const EFFORTS: readonly Effort[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * The error for an invalid argument or option, with the code `invalid_argument`.
 *
 * @example
 * ```ts
 * import { invalidArgument } from "@agent/core/toolkit";
 *
 * console.log(invalidArgument("hosts", "an array of host names", null).message); // hosts must be an array of host names, got null.
 * ```
 */
export function invalidArgument(name: string, expected: string, value: unknown): AgentError {
  return new AgentError("invalid_argument", `${name} must be ${expected}, got ${describeValue(value)}.`);
}

/** Checks one value that a program passed in, and throws `invalid_argument` with its name if it is wrong. */
export type ValueCheck = (name: string, value: unknown) => void;

export const checkText: ValueCheck = (name, value) => {
  if (typeof value !== "string") throw invalidArgument(name, "a string", value);
};

export const checkNumber: ValueCheck = (name, value) => {
  if (typeof value !== "number") throw invalidArgument(name, "a number", value);
};

/** A number greater than 0, including `Infinity`. */
export const checkPositive: ValueCheck = (name, value) => {
  if (typeof value !== "number" || !(value > 0))
    throw invalidArgument(name, "a number greater than 0", value);
};

export const checkNotNegative: ValueCheck = (name, value) => {
  if (typeof value !== "number" || !(value >= 0))
    throw invalidArgument(name, "a number of at least 0", value);
};

export const checkEffort: ValueCheck = (name, value) => {
  if (!EFFORTS.some((effort) => effort === value))
    throw invalidArgument(name, `one of ${EFFORTS.join(", ")}`, value);
};

export const checkBoolean: ValueCheck = (name, value) => {
  if (typeof value !== "boolean") throw invalidArgument(name, "true or false", value);
};

export const checkFunction: ValueCheck = (name, value) => {
  if (typeof value !== "function") throw invalidArgument(name, "a function", value);
};

export const checkObject: ValueCheck = (name, value) => {
  if (!isRecord(value)) throw invalidArgument(name, "an object", value);
};

/** An array. `items` names its elements in the plural for the message; the elements are not checked. */
export function arrayOf(items: string): ValueCheck {
  return (name, value) => {
    if (!Array.isArray(value)) throw invalidArgument(name, `an array of ${items}`, value);
  };
}

/** An array of strings; `items` describes them in the message. */
export function textsOf(items: string): ValueCheck {
  const checkWhole = arrayOf(items);
  return (name, value) => {
    checkWhole(name, value);
    for (const [index, item] of (value as unknown[]).entries()) checkText(`${name}[${index}]`, item);
  };
}

/** An `AbortSignal` of any origin, including another copy of the class. */
export const checkSignal: ValueCheck = (name, value) => {
  const { addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  if (typeof addEventListener !== "function") throw invalidArgument(name, "an AbortSignal", value);
};

/** Throws `invalid_argument` unless the first argument of a pack's `register` is a registry. */
export function checkRegistry(registry: PackRegistry): void {
  if (typeof registry?.register !== "function") {
    throw invalidArgument("registry", "a ToolRegistry", registry);
  }
}

const checkMessages = arrayOf("messages");
const checkTools = arrayOf("tools");
const CALLBACKS = ["onText", "onReasoning", "onToolDraft", "onRetry", "onNotice"] as const;

/**
 * Throws `invalid_argument` unless a provider of core got a complete request. Not next to the providers: the bundler
 * creates a separate file for code that only some entries share, which every import would have to load.
 */
export function checkRequest(request: ChatRequest): void {
  checkObject("request", request);
  checkMessages("request.messages", request.messages);
  checkTools("request.tools", request.tools);
  checkSignal("request.signal", request.signal);
  if (request.effort !== undefined) checkEffort("request.effort", request.effort);
  for (const name of CALLBACKS) {
    if (request[name] !== undefined) checkFunction(`request.${name}`, request[name]);
  }
}
