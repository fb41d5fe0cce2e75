import type { ChatTool, JsonSchema } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { parseArgument } from "./toolArguments.js";
import type { Declined, PlannedCall } from "./types.js";

const CALL = /^(?:(?:call|use|invoke)(?:\s+the)?(?:\s+tool)?|run\s+the\s+tool)\s+/i;
const PAIR = /([A-Za-z_][\w-]*)\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|\{[\s\S]*\}|\[[\s\S]*\]|\S+)/y;
// Verbs that have sentences of their own: "remove the file a.txt." does not mean a file called "the file a.txt.".
const SPOKEN = new Set(["mkdir", "move", "remove"]);

/**
 * A call by the tool's own name, for any tool of any pack, read by its schema: `word_count path=a.txt`,
 * `call word_count with {"path": "a.txt"}`, `word count a.txt`. `undefined` if no tool is named.
 */
export function callByName(request: string, tools: readonly ChatTool[]): PlannedCall | Declined | undefined {
  const explicit = CALL.test(request);
  const sentence = request.replace(CALL, "").trim();
  for (const tool of [...tools].sort((a, b) => b.function.name.length - a.function.name.length)) {
    const rest = afterName(sentence, tool.function.name);
    if (rest === undefined) continue;
    const args = readArguments(rest, tool);
    if (args === undefined) {
      // A word that is a tool's name and a verb too ("move", "remove") may mean something else.
      return explicit || tool.function.name.includes("_") ? { hint: usage(tool) } : undefined;
    }
    const missing = required(tool).filter((name) => !Object.hasOwn(args, name));
    return missing.length === 0 ? { tool: tool.function.name, args } : { hint: usage(tool) };
  }
  return undefined;
}

/** How to call a tool here: its name and what it needs. */
export function usage(tool: ChatTool): string {
  const needed = required(tool);
  const others = Object.keys(properties(tool)).filter((name) => !needed.includes(name));
  const form = [
    tool.function.name,
    ...needed.map((name) => `${name}=…`),
    ...others.map((name) => `[${name}=…]`),
  ];
  return `Say: ${form.join(" ")}`;
}

/** What follows the tool's name, written as it is or with spaces. */
function afterName(sentence: string, name: string): string | undefined {
  for (const form of [name, name.replaceAll(/[_-]/g, " ")]) {
    if (!sentence.toLowerCase().startsWith(form.toLowerCase())) continue;
    const rest = sentence.slice(form.length);
    if (rest === "" || /^[\s:]/.test(rest)) return rest.replace(/^[\s:]+/, "");
  }
  return undefined;
}

function readArguments(rest: string, tool: ChatTool): Record<string, unknown> | undefined {
  const text = rest.replace(/^with\s+/i, "").trim();
  if (text === "") return required(tool).length === 0 ? {} : undefined;
  return readJson(text) ?? readPairs(text, tool) ?? readOnlyArgument(text, tool);
}

function readJson(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readPairs(text: string, tool: ChatTool): Record<string, unknown> | undefined {
  const args: Record<string, unknown> = {};
  let position = 0;
  while (position < text.length) {
    PAIR.lastIndex = position;
    const match = PAIR.exec(text);
    if (!match) return undefined;
    const [whole, key = "", value = ""] = match;
    const schema = Object.hasOwn(properties(tool), key) ? properties(tool)[key] : undefined;
    if (!schema) return undefined;
    args[key] = parseArgument(value.replace(/^(["'])([\s\S]*)\1$/, "$2"), schema);
    position += whole.length;
    position += text.slice(position).match(/^(?:\s*,\s*|\s+and\s+|\s+)/)?.[0].length ?? 0;
  }
  return args;
}

/** A tool that needs exactly one text gets the rest of the sentence. */
function readOnlyArgument(text: string, tool: ChatTool): Record<string, unknown> | undefined {
  const [only, ...more] = required(tool);
  if (SPOKEN.has(tool.function.name)) return undefined;
  if (only === undefined || more.length > 0 || properties(tool)[only]?.type !== "string") return undefined;
  if (text.includes("=") || text.startsWith("{")) return undefined;
  return { [only]: text.replace(/^(["'`])([\s\S]*)\1$/, "$2") };
}

function properties(tool: ChatTool): Readonly<Record<string, JsonSchema>> {
  const value = tool.function.parameters?.properties;
  return isRecord(value) ? (value as Record<string, JsonSchema>) : {};
}

function required(tool: ChatTool): readonly string[] {
  const value = tool.function.parameters?.required;
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
