import { AgentError } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";

/** The value as JSON. Throws if it has none: a fault of the run's model or tool, and not of the store. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw new AgentError(
      "invalid_argument",
      `An answer or a result cannot be stored, because it is not a JSON value: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
