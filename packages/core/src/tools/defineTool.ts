import { describeValue, isRecord, quote } from "@agent/internal";
import type { ContentPart } from "../conversation/content.js";
import { AgentError } from "../errors.js";
import type { Effort } from "../providers/interface.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  checkBoolean,
  checkEffort,
  checkFunction,
  checkObject,
  checkPositive,
  checkText,
  textsOf,
} from "../toolkit/hostOptions/checks.js";
import type { CheckedSchema } from "../toolkit/jsonSchema/jsonSchemaValue.js";
import {
  isStandardSchema,
  parseContext,
  readSchema,
  type Schema,
  type SchemaReader,
  type SchemaValue,
  type StandardSchema,
} from "../toolkit/jsonSchema/standardSchema.js";
import type { CallDescription, CallPreview, PermissionLanguage, ToolKind } from "./callDescription.js";
import { schemaReader } from "./registeredTool.js";
import type {
  DefinedToolCall,
  DescribeOptions,
  ExecutableTool,
  FreeformInput,
  JsonSchema,
  RedirectedCall,
  ToolCall,
  ToolCapability,
} from "./tool.js";

/** The result of a tool: its text, or the text with images and files. */
export type ToolOutput = string | { readonly text: string; readonly parts?: readonly ContentPart[] };

/** The arguments as passed to `execute`, typed by the schema; any object if it has no type. */
export type ToolInput<S> = unknown extends SchemaValue<S> ? Record<string, unknown> : SchemaValue<S>;

/** The names of the arguments in the schema. */
type ArgumentName<S> = Extract<keyof ToolInput<S>, string>;

/** The return type of `execute`: the value with an output schema, otherwise the text. */
type Returned<O> = O extends Schema ? SchemaValue<O> : ToolOutput;

export interface ToolDefinition<
  S extends Schema,
  Name extends string = string,
  O extends Schema | undefined = undefined,
  Context = unknown,
> {
  readonly name: Name;
  readonly description: string;
  /** The arguments: a schema of zod, valibot, arktype or another Standard Schema library, or a JSON Schema of an object. */
  readonly input: S;
  /**
   * The schema of the result, for programs. With it `execute` returns a matching value, and the model reads `toText`.
   */
  readonly output?: O;
  /**
   * A schema of the `context` that the tool needs; a call with a different context fails. `contextType<T>()` only sets
   * the type.
   */
  readonly context?: StandardSchema<Context>;
  readonly capabilities?: readonly ToolCapability[];
  /** Milliseconds the registry waits for a result. Default: ten minutes. */
  readonly deadlineMs?: number;
  /** Whether an interrupted call may be run again. Default: only if the tool only reads. */
  readonly repeatable?: boolean;
  /** The kind of work it does, for display. Default: derived from its capabilities. */
  readonly kind?: ToolKind;
  /** The arguments that name a call. Default: the first required string. */
  readonly titleFrom?: ArgumentName<S> | readonly ArgumentName<S>[];
  /** The arguments that are paths, or lists of paths: quotes and similar characters that a model added are removed. */
  readonly pathArguments?: readonly ArgumentName<S>[];
  /** How a model may write the only argument as plain text, if its server supports that. */
  readonly freeform?: FreeformInput;
  /**
   * Another tool of the same pack that this one replaces when it is offered: rules that restrict that tool apply to
   * this one.
   */
  readonly insteadOf?: string;
  /** Matches rule patterns, if the targets are not files, addresses or plain text. */
  readonly permissions?: PermissionLanguage;
  /** Describes a call before it is decided about. Must be cheap and without side effects. */
  readonly describe?: (
    input: ToolInput<S>,
    options: DescribeOptions,
  ) => CallDescription | Promise<CallDescription>;
  /** Previews the changes of a call. Called only before the user is asked. */
  readonly preview?: (
    input: ToolInput<S>,
    options: DescribeOptions,
  ) => CallPreview | undefined | Promise<CallPreview | undefined>;
  /** Redirects to a call of another tool, which is validated, approved and run instead. */
  readonly redirect?: (input: ToolInput<S>) => RedirectedCall | undefined;
  readonly execute: (
    input: ToolInput<S>,
    call: DefinedToolCall<Context>,
  ) => Returned<O> | Promise<Returned<O>>;
  /** The text of a value, for the model. Default: JSON. */
  readonly toText?: (value: O extends Schema ? SchemaValue<O> : never) => string;
}

const anything = (): void => undefined;

const OPTIONS: OptionChecks<Record<keyof ToolDefinition<Schema>, unknown>> = {
  name: checkText,
  description: checkText,
  input: anything,
  output: anything,
  context: checkObject,
  capabilities: anything,
  deadlineMs: anything,
  repeatable: checkBoolean,
  kind: checkText,
  titleFrom: anything,
  pathArguments: textsOf("names of arguments"),
  freeform: checkObject,
  insteadOf: checkText,
  permissions: checkObject,
  describe: checkFunction,
  preview: checkFunction,
  redirect: checkFunction,
  execute: checkFunction,
  toText: checkFunction,
};

/**
 * Defines a tool whose arguments are typed and validated by the schema. Throws `invalid_argument` for an incomplete
 * definition or a schema that cannot be converted to JSON Schema.
 *
 * @example
 * ```ts
 * import { defineTool } from "@agent/core";
 *
 * export const greet = defineTool({
 *   name: "greet",
 *   description: "Greets someone.",
 *   input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   execute: ({ name }) => `Hello, ${name}!`,
 * });
 * ```
 */
export function defineTool<
  const S extends Schema,
  const Name extends string,
  const O extends Schema | undefined = undefined,
  Context = unknown,
>(
  definition: ToolDefinition<S, Name, O, Context> & { readonly input: CheckedSchema<S> },
): ExecutableTool & { readonly name: Name } {
  checkObject("definition", definition);
  checkOptions<Record<keyof ToolDefinition<S>, unknown>>("defineTool", definition as never, OPTIONS);
  const { name, description, input, output, context, execute, describe, preview, toText, ...facts } =
    definition;
  checkText("name", name);
  checkText("description", description);
  checkFunction("execute", execute);
  const { parameters, parse } = readInput(name, input);
  const reader = output && readSchema(output, `defineTool ${quote(name)}: output`);
  const special = (context ?? reader) && { context, reader, toText: toText as ValueText | undefined };
  const tool: DefinedTool & { readonly name: Name } = {
    name,
    getSchema: schemaReader({ type: "function", function: { name, description, parameters } }),
    execute: run,
    [DEFINED]: special ? { ...special, execute: execute as Execute } : (execute as Execute),
  };
  const optional = {
    ...facts,
    outputSchema: reader?.jsonSchema,
    describeCall: describe,
    previewCall: preview,
    parseArguments: parse,
  };
  return Object.assign(tool, definedOf(optional));
}

type Execute = (args: Record<string, unknown>, call: DefinedToolCall) => unknown;
type ValueText = (value: unknown) => string;

/** What only some tools have: a schema of the context or of the result. */
interface SpecialTool {
  readonly execute: Execute;
  readonly context: StandardSchema | undefined;
  readonly reader: SchemaReader | undefined;
  readonly toText: ValueText | undefined;
}

/** The function of the definition. All tools share `run`: a program may have thousands of agents, each with its tools. */
const DEFINED = Symbol("defined");

interface DefinedTool extends ExecutableTool {
  readonly [DEFINED]: Execute | SpecialTool;
}

async function run(this: ExecutableTool, args: Record<string, unknown>, call?: ToolCall): Promise<string> {
  const defined = (this as DefinedTool | undefined)?.[DEFINED];
  if (defined === undefined)
    throw new Error("execute was called without its tool. Write tool.execute(args).");
  const special = typeof defined === "function" ? undefined : defined;
  const execute = typeof defined === "function" ? defined : defined.execute;
  const whole = completeCall(call);
  if (special?.context) {
    const value = await parseContext(special.context, whole.context);
    Object.defineProperty(whole, "context", { value, enumerable: true });
  }
  const returned: unknown = await execute(args, whole);
  if (special?.reader) {
    const parsed = await special.reader.parse(returned);
    if ("problem" in parsed) throw new Error(`its result does not fit its output schema: ${parsed.problem}`);
    whole.report({ value: parsed.value });
    return (special.toText ?? JSON.stringify)(parsed.value);
  }
  if (typeof returned === "string") return returned;
  if (!isRecord(returned) || typeof returned.text !== "string") {
    throw new Error(`it returned ${describeValue(returned)} instead of a string or { text, parts }.`);
  }
  for (const part of (returned as { parts?: readonly ContentPart[] }).parts ?? []) whole.attach(part);
  return returned.text;
}

function definedOf(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}

/** The schema for the model. A JSON Schema is checked when the tool is registered, and by the registry for each call. */
function readInput(
  name: string,
  input: Schema,
): { readonly parameters: JsonSchema; readonly parse?: NonNullable<ExecutableTool["parseArguments"]> } {
  const where = `defineTool ${quote(name)}: input`;
  const reader = isRecord(input) && !isStandardSchema(input) ? undefined : readSchema(input, where);
  const parameters = reader?.jsonSchema ?? (input as JsonSchema);
  if (parameters.type !== "object") {
    throw new AgentError(
      "invalid_argument",
      `${where} must be a schema of an object, since arguments have names, got ${describeValue(parameters.type)} for its type.`,
    );
  }
  if (reader === undefined) return { parameters };
  return {
    parameters,
    async parse(args) {
      const parsed = await reader.parse(args);
      if ("problem" in parsed) return parsed;
      // A schema may transform the arguments, but `execute` takes an object.
      return isRecord(parsed.value) ? { value: parsed.value } : { problem: "the input is not an object" };
    },
  };
}

const ignore = (): void => undefined;

/** The call with defaults for everything that its caller did not provide: a tool may be called without any of it. */
function completeCall(call: Partial<ToolCall> | undefined): DefinedToolCall {
  const given: Partial<ToolCall> = call ?? {};
  const whole: DefinedToolCall = {
    granted: [],
    onOutput: ignore,
    onProcess: ignore,
    progress: ignore,
    report: ignore,
    attach: ignore,
    canAttach: given.attach !== undefined,
    // Read on first access: most tools never do, and a signal is created only then.
    get signal() {
      return given.signal ?? new AbortController().signal;
    },
  };
  for (const name of Object.keys(given) as (keyof ToolCall)[]) {
    if (name === "signal" || given[name] === undefined) continue;
    (whole as Record<keyof ToolCall, unknown>)[name] = given[name];
  }
  return whole;
}

/** A child agent that the model can call like a tool. */
export interface AgentToolDefinition<
  Name extends string = string,
  S extends Schema | undefined = Schema | undefined,
> {
  readonly name: Name;
  /** What it is good at: the model chooses it by this description. */
  readonly description: string;
  readonly systemPrompt?: string;
  /** The tools it may use, among those of the agent. Default: all of them. */
  readonly tools?: readonly string[];
  /** The model it uses, by a name that the agent's `resolveModel` knows. Default: the agent's own. */
  readonly model?: string;
  /** The schema of its answer. Default: text. */
  readonly output?: S & CheckedSchema<NoInfer<S>>;
  readonly maxTurns?: number;
  readonly effort?: Effort;
}

const AGENT_TOOL_OPTIONS: OptionChecks<AgentToolDefinition> = {
  name: checkText,
  description: checkText,
  systemPrompt: checkText,
  tools: textsOf("tool names"),
  model: checkText,
  output: () => undefined,
  maxTurns: checkPositive,
  effort: checkEffort,
};

/**
 * Defines a tool that starts a child agent with its own conversation and resolves to its answer. The child's tools are
 * a subset of its parent's, its calls are approved like any other, and its usage counts for the message.
 *
 * @example
 * ```ts
 * import { Agent, agentTool } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const research = agentTool({
 *   name: "research",
 *   description: "Finds facts.",
 *   systemPrompt: "Answer with sources.",
 *   tools: [],
 * });
 * const call = { calls: [{ name: "research", args: { task: "Oslo?" } }] };
 * const agent = new Agent(scriptedProvider([call, "717,710.", "About 717,710."]), { tools: [research] });
 * console.log(await agent.chat("How many people live in Oslo?")); // About 717,710.
 * ```
 */
export function agentTool<const Name extends string, const S extends Schema | undefined = undefined>(
  definition: AgentToolDefinition<Name, S>,
): ExecutableTool & { readonly name: Name } {
  checkObject("definition", definition);
  checkOptions("agentTool", definition, AGENT_TOOL_OPTIONS);
  const { name, description, output, ...request }: AgentToolDefinition<Name> = definition;
  // Otherwise a mistake would be found only when the model calls it.
  if (output) readSchema(output, `agentTool ${quote(name)}: output`);
  return defineTool({
    name,
    description,
    input: {
      type: "object",
      properties: {
        task: {
          type: "string",
          minLength: 1,
          description:
            "What to do, with everything the agent needs to know: it does not see this conversation.",
        },
      },
      required: ["task"],
      additionalProperties: false,
    },
    // Its own work is done by calls that are approved and recorded one by one.
    capabilities: ["read"],
    repeatable: true,
    async execute({ task }, call) {
      if (!call.startAgent) throw new Error("it can only be called by an agent.");
      const answer = await call.startAgent({
        ...request,
        ...(output && { output }),
        message: task,
        label: name,
      });
      if (!output) return answer.text;
      call.report({ value: answer.output });
      return JSON.stringify(answer.output);
    },
  });
}
