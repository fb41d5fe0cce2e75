import { AgentError } from "../errors.js";
import { checkBoolean, checkText } from "../toolkit/checks.js";
import { describeValue, errorMessage, quote } from "../toolkit/describe.js";
import { compileSchema } from "../toolkit/jsonSchema/compile.js";
import { checkOptions, type OptionChecks } from "../toolkit/options.js";
import { hasHiddenTags } from "../toolkit/visible.js";
import type { ChatTool, ExecutableTool, JsonSchema, ParsedArguments } from "./interface.js";
import { isToolName } from "./toolName.js";
import { type RegisterOptions, TOOL_CAPABILITIES, type ToolCapability } from "./types.js";

const NO_ARGUMENTS: JsonSchema = { type: "object", properties: {} };

const OPTIONS: OptionChecks<RegisterOptions> = {
  enabled: checkBoolean,
  source: checkText,
  deferred: checkBoolean,
};

/** A registered tool with everything that was learned about it once, at registration. */
export interface RegisteredTool {
  readonly tool: ExecutableTool;
  readonly capabilities: readonly ToolCapability[];
  /** Whether an interrupted call may be run again. */
  readonly repeatable: boolean;
  readonly description: string;
  readonly source: string | undefined;
  /** The schema as JSON text: parsing it hands out a fresh copy that nobody else can have changed. */
  readonly schemaText: string;
  /** The schema, frozen through and through: for readers that need no copy. */
  readonly schema: ChatTool;
  /** Checks arguments by the tool's own `parseArguments`, or by its schema. */
  readonly parseArguments: (args: Record<string, unknown>) => ParsedArguments | Promise<ParsedArguments>;
  /** Whether its schema is kept out of requests. */
  readonly deferred: boolean;
  enabled: boolean;
}

/** Examines a tool once. Throws `tool_invalid`, naming the tool and what is wrong with it. */
export function examineTool(tool: ExecutableTool, options: RegisterOptions): RegisteredTool {
  const name = checkedName(tool);
  checkOptions("register", options, OPTIONS);
  const fail = (problem: string): never => {
    const sentence = problem.endsWith("?") ? problem : `${problem}.`;
    throw new AgentError("tool_invalid", `Tool ${quote(name)}: ${sentence}`);
  };
  if (typeof tool.execute !== "function") fail("it has no execute(args) method");
  const schemaText = readSchema(tool, fail);
  const schema = JSON.parse(schemaText);
  if (schema?.type !== "function" || typeof schema.function !== "object" || schema.function === null) {
    fail('getSchema() must return { type: "function", function: { name, … } }');
  }
  if (schema.function.name !== name) {
    fail(`its schema is named ${quote(String(schema.function.name))}; both names must be the same`);
  }
  const description = schema.function.description ?? "";
  if (typeof description !== "string")
    fail(`its description must be a string, got ${describeValue(description)}`);
  if (hasHiddenTags(schemaText))
    fail("its schema holds invisible tag characters, which hide text from people");
  const capabilities = checkedCapabilities(tool, fail);
  const { repeatable = onlyReads(capabilities) } = tool;
  if (typeof repeatable !== "boolean")
    fail(`repeatable must be true or false, got ${describeValue(repeatable)}`);
  return {
    tool,
    capabilities,
    repeatable,
    description,
    source: options.source,
    schemaText,
    schema: deepFreeze(schema),
    parseArguments: argumentParser(tool, compileParameters(schema.function.parameters ?? NO_ARGUMENTS, fail)),
    deferred: options.deferred ?? false,
    enabled: options.enabled ?? true,
  };
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

function readSchema(tool: ExecutableTool, fail: (problem: string) => never): string {
  if (typeof tool.getSchema !== "function") fail("it has no getSchema() method");
  try {
    const text = JSON.stringify(tool.getSchema());
    return text === undefined ? fail("getSchema() returned nothing") : text;
  } catch (error) {
    return fail(`getSchema() failed: ${errorMessage(error)}`);
  }
}

function checkedCapabilities(tool: ExecutableTool, fail: (problem: string) => never): ToolCapability[] {
  const { capabilities = [] } = tool;
  if (!Array.isArray(capabilities)) fail(`capabilities must be an array, got ${describeValue(capabilities)}`);
  const unknown = capabilities.find((one) => !TOOL_CAPABILITIES.includes(one));
  if (unknown !== undefined) {
    fail(`${quote(String(unknown))} is not a capability. Known: ${TOOL_CAPABILITIES.join(", ")}`);
  }
  return [...capabilities];
}

/** A tool that declares nothing is not taken for a reader. */
function onlyReads(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.includes("read") && capabilities.every((one) => one === "read" || one === "network");
}

function compileParameters(
  parameters: JsonSchema,
  fail: (problem: string) => never,
): (args: unknown) => string | undefined {
  try {
    const check = compileSchema(parameters, "parameters");
    if (parameters.type === "object") return check;
  } catch (error) {
    return fail(`its schema is not valid: ${errorMessage(error)}`);
  }
  return fail(`parameters.type must be "object", got ${describeValue(parameters.type)}`);
}

function argumentParser(
  tool: ExecutableTool,
  check: (args: unknown) => string | undefined,
): RegisteredTool["parseArguments"] {
  if (tool.parseArguments) return (args) => tool.parseArguments?.(args) ?? { value: args };
  return (args) => {
    const problem = check(args);
    return problem === undefined ? { value: args } : { problem };
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
