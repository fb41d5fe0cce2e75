import { describeValue, errorMessage, hasHiddenTags } from "@agent/internal";
import { compileSchema } from "../toolkit/jsonSchema/compile.js";
import type { ChatTool, JsonSchema } from "./interface.js";

/** A tool's schema, shared by all agents that have the tool. */
export interface SharedSchema {
  /** The schema as JSON text: parsing it hands out a fresh copy that no one else can have changed. */
  readonly text: string;
  /** The schema, frozen through and through: for readers that need no copy. */
  readonly schema: ChatTool;
  /** Returns the problem with the arguments, or `undefined`. */
  readonly check: (args: unknown) => string | undefined;
}

const NO_ARGUMENTS: JsonSchema = { type: "object", properties: {} };

// The cache size, more than any program has. A compiled schema takes about 6 KB: a server with a thousand agents compiles it once.
const MAX_SHARED = 512;
const shared = new Map<string, SharedSchema>();

/**
 * The schema of a text, examined and compiled once. It depends on the text alone and never changes, so that agents
 * that share it share no state. Throws an error that says what is wrong with the schema.
 */
export function shareSchema(text: string): SharedSchema {
  const known = shared.get(text);
  if (known) return known;
  const schema = examineSchema(text);
  const made = { text, schema, check: compileParameters(schema.function.parameters ?? NO_ARGUMENTS) };
  const [oldest] = shared.keys();
  if (shared.size >= MAX_SHARED && oldest !== undefined) shared.delete(oldest);
  shared.set(text, made);
  return made;
}

function examineSchema(text: string): ChatTool {
  const schema = JSON.parse(text);
  if (schema?.type !== "function" || typeof schema.function !== "object" || schema.function === null) {
    throw new Error('getSchema() must return { type: "function", function: { name, … } }');
  }
  const { description = "" } = schema.function;
  if (typeof description !== "string") {
    throw new Error(`its description must be a string, got ${describeValue(description)}`);
  }
  if (hasHiddenTags(text)) {
    throw new Error("its schema holds invisible tag characters, which hide text from people");
  }
  return deepFreeze(schema);
}

function compileParameters(parameters: JsonSchema): SharedSchema["check"] {
  let check: SharedSchema["check"];
  try {
    check = compileSchema(parameters, "parameters");
  } catch (error) {
    throw new Error(`its schema is not valid: ${errorMessage(error)}`);
  }
  if (parameters.type === "object") return check;
  throw new Error(`parameters.type must be "object", got ${describeValue(parameters.type)}`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
