import { describeValue, errorMessage, isRecord, quotePath } from "@agent/internal";
import { AgentError } from "../errors.js";
import { nodeFs } from "../toolkit/files/nodeModules.js";
import type { ChatMessage, ChatResponse } from "./interface.js";

const FORMAT = "agent-recording";
const VERSION = 1;

/** One request and its answer. `chunks` is the text as it was streamed, if it was. */
export interface Exchange {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly string[];
  readonly chunks?: readonly string[];
  readonly response: ChatResponse;
}

export function formatRecording(exchanges: readonly Exchange[]): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, exchanges }, undefined, 1)}\n`;
}

/** Reads a recording. Throws `replay_mismatch` for a file that is none. */
export function readRecording(path: string): Exchange[] {
  const fail = (problem: string): never => {
    throw new AgentError("replay_mismatch", `${quotePath(path)} is not an intact recording: ${problem}.`);
  };
  let data: { format?: unknown; version?: unknown; exchanges?: unknown } | null;
  try {
    data = JSON.parse(nodeFs.readFileSync(path, "utf8"));
  } catch (error) {
    return fail(errorMessage(error));
  }
  if (data?.format !== FORMAT || data.version !== VERSION || !Array.isArray(data.exchanges)) {
    return fail(`it has no "format": "${FORMAT}" with version ${VERSION}`);
  }
  for (const [index, exchange] of data.exchanges.entries()) {
    const problem = findExchangeProblem(exchange);
    if (problem !== undefined) fail(`exchanges[${index}] ${problem}`);
  }
  return data.exchanges;
}

function findExchangeProblem(exchange: unknown): string | undefined {
  if (!isRecord(exchange)) return `must be an object, got ${describeValue(exchange)}`;
  const { messages, tools, chunks, response } = exchange;
  if (!isStrings(tools)) return '"tools" must be an array of strings';
  if (chunks !== undefined && !isStrings(chunks)) return '"chunks" must be an array of strings';
  if (!Array.isArray(messages)) return `"messages" must be an array, got ${describeValue(messages)}`;
  const { content, toolCalls } = (response ?? {}) as Partial<Record<keyof ChatResponse, unknown>>;
  if (content !== null && typeof content !== "string") return '"response.content" must be a string or null';
  return Array.isArray(toolCalls) && toolCalls.every(isToolCall)
    ? undefined
    : '"response.toolCalls" must be an array of tool calls';
}

function isToolCall(
  call: { id?: unknown; function?: { name?: unknown; arguments?: unknown } } | null,
): boolean {
  return isStrings([call?.id, call?.function?.name, call?.function?.arguments]);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/**
 * Where two conversations first differ in what the model was asked, or `undefined`. The text of tool results
 * is not compared: it holds durations, dates and paths that differ between runs.
 */
export function findDifference(recorded: Exchange, asked: Exchange): string | undefined {
  const expected = recorded.messages.map(comparable);
  const actual = asked.messages.map(comparable);
  const index = actual.findIndex((message, at) => message !== expected[at]);
  if (index !== -1)
    return `message ${index} is ${actual[index]}, recorded was ${expected[index] ?? "nothing"}`;
  if (expected.length > actual.length)
    return `message ${actual.length} is missing: ${expected[actual.length]}`;
  const tools = asked.tools.join(", ");
  const recordedTools = recorded.tools.join(", ");
  return tools === recordedTools ? undefined : `the tools are [${tools}], recorded were [${recordedTools}]`;
}

function comparable(message: ChatMessage): string {
  return JSON.stringify(message?.role === "tool" ? { ...message, content: "…" } : message);
}
