import { describeValue, isRecord, quote } from "@agent/internal";
import type { ContentPart } from "../conversation/content.js";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { checkBoolean, checkFunction, checkObject, checkText } from "../toolkit/hostOptions/checks.js";
import { readSchema, type Schema, type SchemaValue } from "../toolkit/jsonSchema/standardSchema.js";
import type { ExecutableTool } from "./interface.js";
import type { ToolCall, ToolCapability } from "./types.js";

/** The result of a tool: its text, or the text with images and files. */
export type ToolOutput = string | { readonly text: string; readonly parts?: readonly ContentPart[] };

/** The arguments as `execute` gets them, typed by the schema; any object where it does not say. */
export type ToolInput<S> = unknown extends SchemaValue<S> ? Record<string, unknown> : SchemaValue<S>;

export interface ToolDefinition<S extends Schema, Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  /** The arguments: a schema of zod, valibot, arktype or another Standard Schema library, or a JSON Schema of an object. */
  readonly input: S;
  readonly capabilities?: readonly ToolCapability[];
  /** Milliseconds the registry waits for a result. Default: ten minutes. */
  readonly deadlineMs?: number;
  /** Whether an interrupted call may be run again. Default: only if it does nothing but read. */
  readonly repeatable?: boolean;
  readonly execute: (input: ToolInput<S>, call?: ToolCall) => ToolOutput | Promise<ToolOutput>;
}

const anything = (): void => undefined;

const OPTIONS: OptionChecks<Record<keyof ToolDefinition<Schema>, unknown>> = {
  name: checkText,
  description: checkText,
  input: anything,
  capabilities: anything,
  deadlineMs: anything,
  repeatable: checkBoolean,
  execute: checkFunction,
};

/**
 * A tool in a few lines, its arguments typed and validated once by the schema. Throws `invalid_argument` for a
 * definition that lacks something or a schema that cannot be written as JSON Schema.
 *
 * @example
 * ```ts
 * import { defineTool } from "@agent/core";
 *
 * export const greet = defineTool({
 *   name: "greet",
 *   description: "Greets somebody.",
 *   input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   execute: ({ name }) => `Hello, ${name}!`,
 * });
 * ```
 */
export function defineTool<const S extends Schema, const Name extends string>(
  definition: ToolDefinition<S, Name>,
): ExecutableTool & { readonly name: Name } {
  checkObject("definition", definition);
  checkOptions<Record<keyof ToolDefinition<S>, unknown>>("defineTool", definition as never, OPTIONS);
  const { name, description, input, capabilities, deadlineMs, repeatable, execute } = definition;
  checkText("name", name);
  checkText("description", description);
  checkFunction("execute", execute);
  const reader = readSchema(input, `defineTool ${quote(name)}: input`);
  if (reader.jsonSchema.type !== "object") {
    throw new AgentError(
      "invalid_argument",
      `defineTool ${quote(name)}: input must be a schema of an object, since arguments have names, got ${describeValue(reader.jsonSchema.type)} for its type.`,
    );
  }
  const schema = {
    type: "function",
    function: { name, description, parameters: reader.jsonSchema },
  } as const;
  return {
    name,
    ...(capabilities && { capabilities }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(repeatable !== undefined && { repeatable }),
    getSchema: () => schema,
    async parseArguments(args) {
      const parsed = await reader.parse(args);
      if ("problem" in parsed) return parsed;
      // A schema may transform the arguments, but `execute` takes an object.
      return isRecord(parsed.value) ? { value: parsed.value } : { problem: "the input is not an object" };
    },
    async execute(args, call) {
      const output = await execute(args as ToolInput<S>, call);
      if (typeof output === "string") return output;
      if (!isRecord(output) || typeof output.text !== "string") {
        throw new Error(`it returned ${describeValue(output)} instead of a string or { text, parts }.`);
      }
      for (const part of output.parts ?? []) call?.attach?.(part);
      return output.text;
    },
  };
}
