import type { JsonSchema } from "@agent/core";
import {
  compileSchema,
  describeValue,
  errorMessage,
  escapeToLine,
  isRecord,
  quote,
  truncateUtf8,
} from "@agent/core/toolkit";
import type { LockedPrompt, LockedTool, SetAside } from "./lock.js";
import { toolHash } from "./toolHash.js";
import { toolName } from "./toolName.js";

/** More tools than this from one server are a mistake or an attack. */
const MAX_TOOLS = 1000;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 16 * 1024;
const MAX_SCHEMA = 128 * 1024;
const MAX_PROMPTS = 200;
const MAX_INSTRUCTIONS = 2000;
const ANNOTATIONS = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

interface ExaminedTools {
  readonly tools: readonly LockedTool[];
  readonly setAside: readonly SetAside[];
}

/** Splits a server's list into usable tools and others, each with its reason. */
export function examineTools(server: string, listed: readonly unknown[]): ExaminedTools {
  const tools: LockedTool[] = [];
  const setAside: SetAside[] = [];
  const seen = new Set<string>();
  for (const [index, raw] of listed.slice(0, MAX_TOOLS).entries()) {
    const label = shownName(raw, index);
    try {
      const tool = examineTool(server, raw);
      if (seen.has(tool.tool)) throw new Error("another tool has the same name");
      seen.add(tool.tool);
      tools.push(tool);
    } catch (error) {
      setAside.push({ tool: label, reason: escapeToLine(truncateUtf8(errorMessage(error), 500)) });
    }
  }
  if (listed.length > MAX_TOOLS) {
    setAside.push({
      tool: `${listed.length - MAX_TOOLS} more`,
      reason: `a server may have ${MAX_TOOLS} tools, this one has ${listed.length}`,
    });
  }
  return { tools, setAside };
}

function examineTool(server: string, raw: unknown): LockedTool {
  if (!isRecord(raw)) throw new Error(`it is ${describeValue(raw)}, not an object`);
  const { name, title, description = "", inputSchema = {}, outputSchema, annotations, execution } = raw;
  if (typeof name !== "string" || name === "") throw new Error(`its name is ${describeValue(name)}`);
  if (name.length > MAX_NAME)
    throw new Error(`its name has ${name.length} characters; ${MAX_NAME} are allowed`);
  if (typeof description !== "string") throw new Error(`its description is ${describeValue(description)}`);
  if (description.length > MAX_DESCRIPTION) {
    throw new Error(`its description has ${description.length} characters; ${MAX_DESCRIPTION} are allowed`);
  }
  if (isRecord(execution) && execution.taskSupport === "required") {
    throw new Error("it runs only as a task (taskSupport: required), and tasks are not supported");
  }
  const entry = {
    tool: name,
    ...(typeof title === "string" && title.length <= MAX_NAME && { title }),
    description,
    inputSchema: checkedSchema(inputSchema, "inputSchema"),
    ...(outputSchema !== undefined && { outputSchema: checkedSchema(outputSchema, "outputSchema") }),
    ...(isRecord(annotations) && { annotations: knownAnnotations(annotations) }),
  };
  return { ...entry, name: toolName(server, name), hash: toolHash(entry) };
}

function checkedSchema(schema: unknown, what: "inputSchema" | "outputSchema"): JsonSchema {
  if (!isRecord(schema)) throw new Error(`its ${what} is ${describeValue(schema)}, not an object`);
  const { type = "object" } = schema;
  if (type !== "object") throw new Error(`the type of its ${what} is ${describeValue(type)}, not "object"`);
  const size = JSON.stringify(schema).length;
  if (size > MAX_SCHEMA) throw new Error(`its ${what} has ${size} characters; ${MAX_SCHEMA} are allowed`);
  const whole = { ...schema, type };
  compileSchema(whole, what);
  if (what === "inputSchema") assertParameterHeaders(whole);
  return whole;
}

function knownAnnotations(annotations: Record<string, unknown>): Record<string, unknown> {
  const known = ANNOTATIONS.filter((key) => ["boolean", "string"].includes(typeof annotations[key]));
  return Object.fromEntries(known.map((key) => [key, annotations[key]]));
}

function shownName(raw: unknown, index: number): string {
  const name =
    isRecord(raw) && typeof raw.name === "string" && raw.name !== "" ? raw.name : `number ${index + 1}`;
  return escapeToLine(truncateUtf8(name, MAX_NAME));
}

/** A server's instructions, shortened to a few sentences. */
export function examineInstructions(instructions: unknown): string | undefined {
  if (typeof instructions !== "string" || instructions.trim() === "") return undefined;
  const text = truncateUtf8(instructions.trim(), MAX_INSTRUCTIONS);
  return text.length < instructions.trim().length ? `${text}…` : text;
}

/** The prompts of a server that can be commands; the others are skipped. */
export function examinePrompts(listed: readonly unknown[]): LockedPrompt[] {
  const prompts: LockedPrompt[] = [];
  for (const raw of listed.slice(0, MAX_PROMPTS)) {
    if (!isRecord(raw) || typeof raw.name !== "string" || !isShort(raw.name)) continue;
    const parameters = Array.isArray(raw.arguments) ? raw.arguments.filter(isRecord) : [];
    prompts.push({
      prompt: raw.name,
      description: typeof raw.description === "string" ? truncateUtf8(raw.description, 500) : "",
      arguments: parameters.filter(hasName).map(({ name, description, required }) => ({
        name,
        ...(typeof description === "string" && { description: truncateUtf8(description, 500) }),
        ...(required === true && { required }),
      })),
    });
  }
  return prompts;
}

function hasName(value: Record<string, unknown>): value is Record<string, unknown> & { name: string } {
  return typeof value.name === "string" && isShort(value.name);
}

function isShort(name: string): boolean {
  return name !== "" && name.length <= MAX_NAME;
}

const KEY = "x-mcp-header";
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ["string", "integer", "boolean"];

/**
 * Throws for a schema that requests an argument as a header in a way the protocol forbids: clients must not call such a
 * tool. Allowed are valid header names, each once, for strings, integers and booleans below `properties`.
 */
function assertParameterHeaders(schema: unknown): void {
  visit(schema, true, new Set());
}

function visit(schema: unknown, isReachable: boolean, seen: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) visit(item, false, seen);
  if (!isRecord(schema)) return;
  if (Object.hasOwn(schema, KEY)) checkDeclaration(schema, isReachable, seen);
  for (const [key, value] of Object.entries(schema)) {
    if (key !== "properties" || !isRecord(value)) visit(value, false, seen);
    else for (const property of Object.values(value)) visit(property, isReachable, seen);
  }
}

function checkDeclaration(schema: Record<string, unknown>, isReachable: boolean, seen: Set<string>): void {
  const name = schema[KEY];
  if (typeof name !== "string" || !HEADER_NAME.test(name)) {
    throw new Error(`its schema wants an argument as a header with an invalid name: ${quote(String(name))}`);
  }
  if (!isReachable || typeof schema.type !== "string" || !TYPES.includes(schema.type)) {
    throw new Error(
      `its schema wants an argument as the header ${quote(name)}, which only a string, an integer or a boolean can be`,
    );
  }
  if (seen.has(name.toLowerCase())) throw new Error(`its schema wants the header ${quote(name)} twice`);
  seen.add(name.toLowerCase());
}
