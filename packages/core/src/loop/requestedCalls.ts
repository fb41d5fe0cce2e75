import { didYouMean, escapeToLine, isRecord, quote } from "@agent/internal";
import type { ChatResponse, ChatToolCall } from "../providers/interface.js";
import { isNestedDeeper } from "../toolkit/jsonDepth.js";
import { MAX_ARGUMENT_DEPTH } from "../tools/arguments.js";
import type { ChatTool } from "../tools/tool.js";
import { asToolName } from "../tools/tool.js";

/** A call as requested by the model: its id, and the parsed arguments or why they could not be parsed. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** The raw JSON text of the arguments. */
  readonly raw: string;
  readonly problem: string | undefined;
}

/**
 * Parses the calls of an answer, at most `most`. Never throws: a parse error is stored with its call. An unknown name
 * that can only mean one of the `tools` is replaced with that tool's name.
 */
export function readCalls(
  response: ChatResponse,
  most: number,
  tools: readonly ChatTool[] = [],
): { calls: RequestedCall[]; dropped: number } {
  const used = new Set<string>();
  const names = tools.map((tool) => tool.function.name);
  const calls = response.toolCalls.slice(0, most).map((call: Partial<ChatToolCall>, index) => {
    const written = asText(call?.function?.name);
    const name = names.includes(written) ? written : (meantTool(written, names) ?? written);
    const raw = asText(call?.function?.arguments);
    // Some servers send no id, or the same one twice; each result must still match its call.
    let id = asText(call?.id) || `call_${index}`;
    while (used.has(id)) id = `${id}_${index}`;
    used.add(id);
    return { id, name, raw, ...readArguments(raw, response.finishReason === "length") };
  });
  return { calls, dropped: response.toolCalls.length - calls.length };
}

/** A provider may pass on malformed calls from its server: an object as the arguments, no name at all. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value.toWellFormed() : (JSON.stringify(value) ?? "");
}

function readArguments(raw: string, cutOff: boolean): Pick<RequestedCall, "args" | "problem"> {
  if (cutOff) {
    return {
      args: {},
      problem:
        "the answer reached its length limit before the call was complete, so nothing was run. Make a shorter call.",
    };
  }
  if (raw.trim() === "") return { args: {}, problem: undefined };
  // Check the depth before parsing: copying or printing deeply nested arguments would overflow the stack.
  if (isNestedDeeper(raw, MAX_ARGUMENT_DEPTH)) {
    return { args: {}, problem: `the arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.` };
  }
  try {
    const args: unknown = JSON.parse(raw);
    if (isRecord(args)) return { args, problem: undefined };
    return { args: {}, problem: `the arguments must be a JSON object, got ${quote(raw)}.` };
  } catch (error) {
    return {
      args: {},
      problem: `the arguments are not valid JSON (${(error as Error).message}): ${quote(raw)}`,
    };
  }
}

/** The call as stored in the history, with a valid name and valid arguments: servers refuse a history without them. */
export function toHistory({ id, name, raw, problem }: RequestedCall): ChatToolCall {
  const readable = problem === undefined && raw.trim() !== "";
  return { id, type: "function", function: { name: asToolName(name), arguments: readable ? raw : "{}" } };
}

/** Prefixes that servers and models put before a tool's name. */
const PREFIX = /^(functions?|tools?|default_api|multi_tool_use|namespace|assistant)[.:/]+/i;
const MAX_LISTED = 40;

/**
 * The tool that a model means by an unknown name: the only one that matches when known prefixes, case and separators
 * are ignored. `undefined` if there is none or several.
 */
function meantTool(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name);
  const [only, another] = names.filter((one) => plainName(one) === plain);
  return another === undefined ? only : undefined;
}

/** Help for the model after an unknown tool name: the nearest names, and all names. */
export function toolNameHint(name: string, names: readonly string[]): string {
  if (names.length === 0) return "There are no tools.";
  const plain = plainName(name);
  const part = names.filter((one) => one.toLowerCase().split(/[_-]/).includes(plain));
  const hint =
    part.length > 0
      ? `Did you mean ${part.map(quote).join(" or ")}?`
      : didYouMean(name.replace(PREFIX, ""), names, { otherwise: "" });
  const listed = names.slice(0, MAX_LISTED).map(escapeToLine).join(", ");
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${hint} The tools are: ${listed}${more}.`.trim();
}

function plainName(name: string): string {
  return name
    .replace(PREFIX, "")
    .replace(/[_\-.\s]/g, "")
    .toLowerCase();
}
