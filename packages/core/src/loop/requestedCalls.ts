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
const PREFIX = /^(functions?|tools?|default_api|multi_tool_use|namespace|assistant|repo_browser)[.:/]+/i;
/** What they put after it: the channel of gpt-oss, the number of the call of Kimi. */
const SUFFIX = /(?:<\|[\s\S]*|:\d+)$/;
/** Before the name of a tool of a server or a namespace. */
const QUALIFIER = /^.*(?:__|[.:/])(?=\w)/s;
const MAX_LISTED = 40;

/**
 * The tool that a model means by an unknown name: the only one that matches when known prefixes and suffixes, case
 * and separators are ignored. `undefined` if there is none or several.
 */
function meantTool(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name);
  const [only, another] = names.filter((one) => plainName(one) === plain);
  return another === undefined ? only : undefined;
}

/** The formats in which models write a tool call as text, if their server does not parse it. */
const FORMS: readonly RegExp[] = [
  // Hermes, Qwen, GLM, Kimi, MiniMax, Granite, DeepSeek and others: <tool_call>{"name": …}</tool_call>, <|START_ACTION|>
  /[<◁](?:\w+:)?[|｜]?(?:\w+_)?(?:tool[_▁]?(?:calls?|use)|tools|START_ACTION)(?:[_▁]section)?(?:[_▁]begin)?[|｜]?[>▷][\s\S]*$/,
  // <function_calls><invoke name="…">, <invoke name="…">, <xai:function_call name="…">
  /<(?:\w+:|｜DSML｜)?(?:function_calls>\s*<(?:\w+:|｜DSML｜)?)?(?:invoke|function_call)\s+name="[\s\S]*$/,
  // <function=read_file>
  /<function=[\s\S]*$/,
  // Mistral: [TOOL_CALLS][{"name": …}], [TOOL_CALLS]read_file[ARGS]{…}
  /\[TOOL_CALLS\][\s\S]*$/,
  // Llama: <|python_tag|>{"name": …}
  /<\|python_tag\|>[\s\S]*$/,
  // gpt-oss: <|channel|>commentary to=functions.read_file <|message|>{…}
  /(?:^|\|>)(?:commentary |assistant )?to=functions\.[\s\S]*$/,
];
// Prompts of the ReAct format ask for no mark at the end.
const REACT = /^Action: *([\w.-]+)[ \t]*\nAction Input:/m;
const MARKED =
  /tool[_▁]?(?:call|use)|<tools>|ACTION|invoke|function_call|<function=|TOOL_CALLS|python_tag|to=functions/;
/** The name of the tool: in the JSON of the call, or after one of the marks. */
const CALLED = [
  /"(?:name|tool|function|tool_name)"\s*:\s*"([^"]+)"/,
  /(?:invoke|function(?:_call)?)\s+name="([^"]+)"/,
  /(?:<function=|<｜tool▁sep｜>|\[TOOL_CALLS\]|\bto=|<tool_name>)\s*([\w.-]+)/,
  /tool[_▁]?call(?:[_▁]begin)?[|｜]?[>▷]\s*([\w.-]+)/,
];
// After the call there may be its end mark, but no answer.
const END = /[>}\]`▷]$/;
const NAME_KEYS = ["name", "tool", "function", "tool_name", "action"];
const CALL_KEYS = new Set([
  ...NAME_KEYS,
  ...["arguments", "args", "parameters", "params", "input", "action_input", "tool_input", "type", "id"],
]);
/** A call in Python and nothing else: `print(default_api.read_file(path="a"))` */
const PYTHON = /^(?:print\()?\[?\s*(?:\w+\.)*(\w+)\(\s*\{?["']?(\w+)["']?\s*[=:][\s\S]*\)\s*\]?\)?$/;
/** An element with another one inside: `<read_file><path>` */
const ELEMENT = /<([\w.-]+)>\s*<([\w.-]+)>/g;

/**
 * The name of the tool that an answer calls as text at its end, if any. A name that no tool has counts if the answer is
 * nothing but a marked call.
 */
export function findWrittenCall(text: string, tools: readonly ChatTool[]): string | undefined {
  // Trimmed here: several `\s*` in a row in a pattern take cubic time on a long run of blanks.
  const whole = text.trim();
  const names = tools.map((tool) => tool.function.name);
  const meant = (written: readonly unknown[]): string | undefined => {
    for (const name of written) {
      const tool = typeof name === "string" ? meantTool(name, names) : undefined;
      if (tool !== undefined) return tool;
    }
    return undefined;
  };
  const only = /^```(?:json|tool_call|tool_code|python)?\s([\s\S]*)```$/.exec(whole)?.[1]?.trim() ?? whole;
  if (/^[[{]/.test(only) && END.test(only)) {
    const called = meant(calledInJson(only));
    if (called !== undefined) return called;
  }
  const [, written = "", argument = ""] = PYTHON.exec(only) ?? [];
  if (hasArgument(tools, written, argument)) return written;
  // A fence around prose and calls is an explanation, unless the fence is all there is.
  const prose = whole.startsWith("```") ? whole : whole.replace(/```[\s\S]*?```/g, "").trim();
  for (const [, name = "", inner = ""] of prose.matchAll(ELEMENT)) {
    if (prose.endsWith(`</${name}>`) && hasArgument(tools, name, inner)) return name;
  }
  const action = meant([REACT.exec(prose)?.[1]]);
  if (action !== undefined) return action;
  if (!MARKED.test(prose)) return undefined;
  let unknown: string | undefined;
  for (const form of FORMS) {
    const found = form.exec(prose);
    const call = found?.[0];
    if (call === undefined || !END.test(call)) continue;
    // "function" may be the kind of the call.
    const written = CALLED.flatMap((pattern) => pattern.exec(call)?.[1] ?? []);
    const called = meant(written);
    if (called !== undefined) return called;
    if (found?.index === 0 && names.length > 0) unknown ??= written[0];
  }
  return unknown;
}

/** The names in a text that is nothing but a call, or a list of calls, as JSON. */
function calledInJson(text: string): readonly unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Cut off, or not quite JSON.
    return [/^\[?\s*\{\s*"(?:name|tool|function|tool_name)"\s*:\s*"([^"]+)"/.exec(text)?.[1]];
  }
  const one: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isRecord(one) || !Object.keys(one).every((key) => CALL_KEYS.has(key))) return [];
  const called = isRecord(one.function) ? one.function : one;
  return NAME_KEYS.map((key) => called[key]);
}

/** Whether a tool of this name takes an argument of that name. */
function hasArgument(tools: readonly ChatTool[], name: string, argument: string): boolean {
  const { properties } = tools.find((tool) => tool.function.name === name)?.function.parameters ?? {};
  return isRecord(properties) && Object.hasOwn(properties, argument);
}

/** Help for the model after an unknown tool name: the nearest names, and all names. */
export function toolNameHint(name: string, names: readonly string[]): string {
  if (names.length === 0) return "There are no tools.";
  const plain = plainName(name);
  const part = names.filter((one) => one.toLowerCase().split(/[_-]/).includes(plain));
  const hint =
    part.length > 0
      ? `Did you mean ${part.map(quote).join(" or ")}?`
      : didYouMean(name.replace(SUFFIX, "").replace(QUALIFIER, ""), names, { otherwise: "" });
  const listed = names.slice(0, MAX_LISTED).map(escapeToLine).join(", ");
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${hint} The tools are: ${listed}${more}.`.trim();
}

function plainName(name: string): string {
  return name
    .replace(PREFIX, "")
    .replace(SUFFIX, "")
    .replace(/[_\-.\s]/g, "")
    .toLowerCase();
}
