import { describeValue, didYouMean, errorMessage, hasHiddenTags, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { checkBoolean, checkText } from "../toolkit/hostOptions/checks.js";
import { compileSchema } from "../toolkit/jsonSchema/compile.js";
import { cleanPaths, describeProblems, repairArguments } from "./arguments.js";
import { isKind, kindOf, TOOL_KINDS, type ToolKind } from "./callDescription.js";
import type { RegisterOptions } from "./pack.js";
import {
  type ChatTool,
  type ExecutableTool,
  isToolName,
  type JsonSchema,
  type ParsedArguments,
  TOOL_CAPABILITIES,
  type ToolCapability,
} from "./tool.js";

const OPTIONS: OptionChecks<RegisterOptions> = {
  enabled: checkBoolean,
  source: checkText,
  foreign: checkBoolean,
  deferred: checkBoolean,
};

/** Data derived from a tool at registration, shared by all agents that have the tool. */
interface ToolFacts {
  readonly schema: SharedSchema;
  readonly capabilities: readonly ToolCapability[];
  /** Whether an interrupted call may be run again. */
  readonly repeatable: boolean;
  readonly kind: ToolKind;
}

/** A registered tool. */
export interface RegisteredTool {
  readonly tool: ExecutableTool;
  readonly facts: ToolFacts;
  readonly source: string | undefined;
  /** Whether the host knows that its pack is not one of `@agent`. */
  readonly foreign?: true;
  /** Whether its schema is omitted from requests. */
  readonly deferred?: true;
  /** Whether the user has it enabled. */
  enabled: boolean;
  /** Why it is currently unavailable, as reported by its pack. */
  withheld?: string | undefined;
  /** Why the registry never runs it, enabled or not: `only` and `readOnly`. */
  readonly barred?: string | undefined;
}

/** Whether a call of the tool would run now. */
export function isUsable({ enabled, withheld, barred }: RegisteredTool): boolean {
  return enabled && withheld === undefined && barred === undefined;
}

/** Checks a tool once. Throws `tool_invalid`, naming the tool and the problem. */
export function examineTool(tool: ExecutableTool, options: RegisterOptions): RegisteredTool {
  const name = checkedName(tool);
  checkOptions("register", options, OPTIONS);
  const fail = (problem: string): never => {
    const sentence = /[.?]$/.test(problem) ? problem : `${problem}.`;
    throw new AgentError("tool_invalid", `Tool ${quote(name)}: ${sentence}`);
  };
  if (typeof tool.execute !== "function") fail("it has no execute(args) method");
  const schema = readSchema(tool, fail);
  const { name: schemaName } = schema.schema.function;
  if (schemaName !== name) {
    fail(`its schema is named ${quote(String(schemaName))}; both names must be the same`);
  }
  const capabilities = checkedCapabilities(tool, fail);
  const { repeatable = onlyReads(capabilities) } = tool;
  if (typeof repeatable !== "boolean")
    fail(`repeatable must be true or false, got ${describeValue(repeatable)}`);
  const { kind = kindOf(capabilities), titleFrom } = tool;
  if (!isKind(kind)) fail(`kind must be one of ${TOOL_KINDS.join(", ")}, got ${describeValue(kind)}`);
  if (titleFrom !== undefined && ![titleFrom].flat().every((name) => typeof name === "string"))
    fail(`titleFrom must be the names of arguments, got ${describeValue(titleFrom)}`);
  const { freeform } = tool;
  if (freeform !== undefined && (typeof freeform?.argument !== "string" || typeof freeform.lark !== "string"))
    fail(`freeform must be { argument, lark }, got ${describeValue(freeform)}`);
  if (tool.insteadOf !== undefined && typeof tool.insteadOf !== "string")
    fail(`insteadOf must be the name of a tool, got ${describeValue(tool.insteadOf)}`);
  return {
    tool,
    facts: shareFacts({ schema, capabilities, repeatable, kind }),
    source: options.source,
    enabled: options.enabled ?? true,
    // Rare: most entries of thousands of idle agents need no room for these.
    ...(options.foreign && { foreign: true }),
    ...(options.deferred && { deferred: true }),
  };
}

/** The facts of a tool with the same schema, if it has the same ones. */
function shareFacts(facts: ToolFacts): ToolFacts {
  const { known } = facts.schema;
  const key = [facts.kind, facts.repeatable, ...facts.capabilities].join();
  const same = known.get(key) ?? facts;
  known.set(key, same);
  return same;
}

function checkedName(tool: ExecutableTool): string {
  if (typeof tool !== "object" || tool === null) {
    throw new AgentError("tool_invalid", `A tool must be an object with a name, got ${describeValue(tool)}.`);
  }
  const { name } = tool;
  if (typeof name === "string" && isToolName(name)) return name;
  throw new AgentError(
    "tool_invalid",
    `A tool's name must be 1 to 64 letters, digits, "_" or "-", got ${describeValue(name)}.`,
  );
}

function readSchema(tool: ExecutableTool, fail: (problem: string) => never): SharedSchema {
  if (typeof tool.getSchema !== "function") fail("it has no getSchema() method");
  let text: string | undefined;
  try {
    text = JSON.stringify(tool.getSchema());
  } catch (error) {
    fail(`getSchema() failed: ${errorMessage(error)}`);
  }
  if (text === undefined) return fail("getSchema() returned nothing");
  try {
    return shareSchema(text);
  } catch (error) {
    return fail(errorMessage(error));
  }
}

function checkedCapabilities(
  tool: ExecutableTool,
  fail: (problem: string) => never,
): readonly ToolCapability[] {
  const { capabilities = [] } = tool;
  if (!Array.isArray(capabilities)) fail(`capabilities must be an array, got ${describeValue(capabilities)}`);
  const unknown = capabilities.find((one) => !TOOL_CAPABILITIES.includes(one));
  if (unknown !== undefined) {
    const name = String(unknown);
    fail(`${quote(name)} is not a capability. ${didYouMean(name, TOOL_CAPABILITIES)}`);
  }
  return Object.isFrozen(capabilities) ? capabilities : Object.freeze([...capabilities]);
}

/** A tool without declared capabilities is not treated as a reader. */
function onlyReads(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.includes("read") && capabilities.every((one) => one === "read" || one === "network");
}

/** The arguments that name a call: the tool's `titleFrom`, else the first required string of its schema. */
export function titleNames({ tool: { titleFrom }, facts }: RegisteredTool): readonly string[] {
  if (titleFrom !== undefined) return typeof titleFrom === "string" ? [titleFrom] : titleFrom;
  const { properties, required } = facts.schema.schema.function.parameters ?? {};
  const isString = (name: unknown): name is string =>
    typeof name === "string" &&
    (properties as Record<string, JsonSchema> | undefined)?.[name]?.type === "string";
  return Array.isArray(required) ? required.filter(isString).slice(0, 1) : [];
}

/** Arguments as the call runs with them, or everything that is wrong with them. */
type ReadArguments =
  | {
      /** The arguments as rules, hooks and `approve` see them. */
      readonly args: Record<string, unknown>;
      /** The arguments as passed to the tool. */
      readonly parsed: Record<string, unknown>;
      readonly notes: readonly string[];
    }
  | { readonly problem: string };

/**
 * Checks arguments. With `repair`, invalid ones are repaired if that is possible in exactly one way, and `notes`
 * describes the changes; otherwise the problem lists everything that is wrong.
 */
export async function readArguments(
  entry: RegisteredTool,
  given: Record<string, unknown>,
  repair: boolean,
): Promise<ReadArguments> {
  const cleaned = repair ? cleanPaths(given, entry.tool.pathArguments ?? []) : undefined;
  const { args, notes } = cleaned ?? { args: given, notes: [] };
  const parsed = await parseArguments(entry, args);
  if (!("problem" in parsed)) return { args, parsed: parsed.value, notes };
  if (!repair) return parsed;
  const { parameters = {} } = entry.facts.schema.schema.function;
  const repaired = repairArguments(parameters, args);
  // A path may have been passed under another name.
  const paths = repaired && cleanPaths(repaired.args, entry.tool.pathArguments ?? []);
  const whole = paths?.args ?? repaired?.args;
  const again = whole && (await parseArguments(entry, whole));
  if (whole && again && !("problem" in again)) {
    const all = [...notes, ...(repaired?.notes ?? []), ...(paths?.notes ?? [])];
    return { args: whole, parsed: again.value, notes: all };
  }
  return { problem: describeProblems(parameters, args, parsed.problem) };
}

/** Checks arguments with the tool's own `parseArguments`, or with its schema. */
function parseArguments(
  { tool, facts: { schema } }: RegisteredTool,
  args: Record<string, unknown>,
): ParsedArguments | Promise<ParsedArguments> {
  if (tool.parseArguments) return tool.parseArguments(args) ?? { value: args };
  const problem = schema.check(args);
  return problem === undefined ? { value: args } : { problem };
}

/** A tool's schema, shared by all agents that have the tool. */
interface SharedSchema {
  /** The schema as JSON text: parsing it returns a fresh copy that no other code can have changed. */
  readonly text: string;
  /** The schema, deeply frozen, for readers that need no copy. */
  readonly schema: ChatTool;
  /** Returns the schema, also after it has left the cache. */
  readonly read: () => ChatTool;
  /** Returns the problem with the arguments, or `undefined`. */
  readonly check: (args: unknown) => string | undefined;
  /** Facts of the tools that have this schema. */
  readonly known: Map<string, ToolFacts>;
}

const NO_ARGUMENTS: JsonSchema = { type: "object", properties: {} };

// The cache size, more schemas than any program has. A compiled schema takes about 6 KB: a server with a thousand
// agents compiles it once.
const MAX_SHARED = 512;
const shared = new Map<string, SharedSchema>();

/**
 * Parses and compiles the schema of a text once. It depends only on the text and never changes, so agents that share it
 * share no state. Throws an error that describes the problem.
 */
function shareSchema(text: string): SharedSchema {
  const known = shared.get(text);
  if (known) return known;
  const schema = examineSchema(text);
  const check = compileParameters(schema.function.parameters ?? NO_ARGUMENTS);
  const made = { text, schema, read: readerOf(text), check, known: new Map<string, ToolFacts>() };
  const [oldest] = shared.keys();
  if (shared.size >= MAX_SHARED && oldest !== undefined) shared.delete(oldest);
  shared.set(text, made);
  return made;
}

/**
 * A schema reader that all agents with the same tool share once one has registered it. Each agent has its own tool
 * objects, and the schema would be most of their memory.
 */
export function schemaReader(schema: ChatTool): () => ChatTool {
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch {
    return () => schema; // registration reports the problem
  }
  return shared.get(text)?.read ?? readerOf(text);
}

/** A separate function, so that its closure does not hold the schema. */
function readerOf(text: string): () => ChatTool {
  return () => shared.get(text)?.schema ?? JSON.parse(text);
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
