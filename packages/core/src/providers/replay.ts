import { describeValue, errorMessage, isRecord, quotePath } from "@agent/internal";
import { AgentError, throwIfAborted } from "../errors.js";
import { nodeFs } from "../toolkit/files/nodeModules.js";
import { writeFileAtomic } from "../toolkit/files/writeFileAtomic.js";
import { checkRequest, checkText, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { ChatMessage, ChatProvider, ChatRequest, ChatResponse } from "./interface.js";
import { wrapProvider } from "./wrap.js";

/**
 * Wraps a provider and writes every request and answer to a file, from which `replayProvider` answers later. The file
 * is complete after each answer, even with several requests at the same time. It contains the conversation: check it
 * before you commit it. If the file cannot be written, the request fails.
 */
export function recordProvider(provider: ChatProvider, path: string): ChatProvider {
  checkText("path", path);
  const exchanges: Exchange[] = [];
  let written: Promise<unknown> = Promise.resolve();
  // Write one after the other: an older recording must never replace a newer one.
  const write = async (): Promise<void> => {
    const writing = written.then(() => writeFileAtomic(path, formatRecording(exchanges)));
    written = writing.catch(() => undefined);
    await writing.catch((error: unknown) => {
      throw new AgentError(
        "provider_failed",
        `The recording ${quotePath(path)} cannot be written: ${errorMessage(error)}`,
        { cause: error },
      );
    });
  };
  return wrapProvider(provider, async (request, ask) => {
    checkRequest(request);
    const chunks: string[] = [];
    const { onText, onRetry } = request;
    const response = await ask({
      ...request,
      ...(onText && {
        onText: (text: string) => {
          chunks.push(text);
          onText(text);
        },
      }),
      onRetry: (retry) => {
        chunks.length = 0;
        onRetry?.(retry);
      },
    });
    exchanges.push({ ...asExchange(request, response), ...(onText && { chunks }) });
    await write();
    return response;
  });
}

/**
 * Answers from a recording, in order, without a network. A request that differs from the recorded one (in anything but
 * the text of tool results) throws `replay_mismatch` and names the difference.
 */
export function replayProvider(path: string): ChatProvider {
  checkText("path", path);
  const exchanges = readRecording(path);
  let next = 0;
  return {
    model: "replay",
    async respond(request) {
      checkRequest(request);
      throwIfAborted(request.signal);
      const recorded = exchanges[next];
      if (!recorded) {
        throw new AgentError(
          "replay_mismatch",
          `The recording has ${exchanges.length} answers and was asked for one more.`,
        );
      }
      const difference = findDifference(recorded, asExchange(request, recorded.response));
      if (difference !== undefined) {
        throw new AgentError(
          "replay_mismatch",
          `Request ${next + 1} differs from the recording: ${difference}.`,
        );
      }
      next++;
      stream(request, recorded.chunks ?? [recorded.response.content ?? ""]);
      return recorded.response;
    },
  };
}

type FixedAnswer =
  | string
  | { readonly calls: readonly { readonly name: string; readonly args?: unknown }[] }
  | ChatResponse;

/**
 * One answer of a scripted model: a text, tool calls with their arguments, a response, or a function that returns one.
 */
export type ScriptedAnswer =
  | FixedAnswer
  | ((request: ChatRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/**
 * A model that gives the listed answers, one per request, for testing a tool or an app through a whole chat.
 *
 * @example
 * ```ts
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const model = scriptedProvider([{ calls: [{ name: "mkdir", args: { path: "a" } }] }, "Done."]);
 * ```
 */
export function scriptedProvider(answers: readonly ScriptedAnswer[]): ChatProvider {
  if (!Array.isArray(answers)) throw invalidArgument("answers", "an array", answers);
  let next = 0;
  return {
    model: "scripted",
    async respond(request) {
      checkRequest(request);
      throwIfAborted(request.signal);
      let answer = answers[next];
      if (next >= answers.length) {
        throw new AgentError(
          "replay_mismatch",
          `The script has ${answers.length} answers and was asked for one more.`,
        );
      }
      next++;
      while (typeof answer === "function") answer = await answer(request);
      const response = asResponse(answer, next);
      stream(request, [response.content ?? ""]);
      return response;
    },
  };
}

function asResponse(answer: FixedAnswer, turn: number): ChatResponse {
  if (typeof answer === "string") return { content: answer, toolCalls: [], finishReason: "stop" };
  if (!isFixedAnswer(answer)) {
    throw new AgentError(
      "invalid_argument",
      `Answer ${turn} of the script must be a string, { calls } or a response, got ${describeValue(answer)}.`,
    );
  }
  if (!("calls" in answer)) return answer;
  const toolCalls = answer.calls.map(({ name, args = {} }, index) => ({
    id: `call_${turn}_${index}`,
    type: "function" as const,
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return { content: null, toolCalls, finishReason: "tool_calls" };
}

function isFixedAnswer(answer: unknown): boolean {
  return isRecord(answer) && (Array.isArray(answer.calls) || Array.isArray(answer.toolCalls));
}

function stream(request: ChatRequest, chunks: readonly string[]): void {
  for (const chunk of chunks) if (chunk !== "") request.onText?.(chunk);
}

function asExchange(request: ChatRequest, response: ChatResponse): Exchange {
  const { messages, tools } = request;
  return { messages, tools: tools.map((tool) => tool.function.name), response };
}

const FORMAT = "agent-recording";
const VERSION = 1;

/** One request and its answer. `chunks` is the text as it was streamed, if it was. */
interface Exchange {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly string[];
  readonly chunks?: readonly string[];
  readonly response: ChatResponse;
}

function formatRecording(exchanges: readonly Exchange[]): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, exchanges }, undefined, 1)}\n`;
}

/** Reads a recording. Throws `replay_mismatch` if the file is not a recording. */
function readRecording(path: string): Exchange[] {
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
 * Where two requests first differ, or `undefined`. The text of tool results is not compared: it contains durations,
 * dates and paths that differ between runs.
 */
function findDifference(recorded: Exchange, asked: Exchange): string | undefined {
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
