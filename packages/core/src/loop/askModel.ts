import { isRecord, quote } from "@agent/internal";
import { adaptContent, type Content, type ContentPart } from "../conversation/content.js";
import { AgentError, throwIfAborted } from "../errors.js";
import type { AgentEvent, TextEvent } from "../events.js";
import type {
  ChatMessage,
  ChatProvider,
  ChatRequest,
  ChatResponse,
  Effort,
  TokenUsage,
  ToolChoice,
} from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkEffort,
  checkObject,
  invalidArgument,
  textsOf,
  type ValueCheck,
} from "../toolkit/hostOptions/checks.js";
import type { ChatTool } from "../tools/tool.js";
import { respondWithin } from "./budget.js";
import { type OutputReader, outputInstruction } from "./output.js";
import { toolNameHint } from "./requestedCalls.js";
import { modelName } from "./respond.js";
import type { Run } from "./run.js";
import { toolSubset } from "./run.js";
import { textOrNull } from "./toolRound.js";

/** An answer of the model, and whether it was replayed from a journal. */
export interface Answer {
  readonly response: ChatResponse;
  readonly replayed: boolean;
  /** The run as seen by this request: `beforeRequest` may have changed the model or the tools. */
  readonly asked: Run;
}

/** The system prompt with the additions of packs. */
export function systemText({ conversation, packPrompt }: Run): string {
  return [conversation.systemPrompt, packPrompt].filter((part) => part !== "").join("\n\n");
}

/**
 * Requests the model's next answer as a step. If the user stops the model, the text written so far stays in the
 * conversation, marked as stopped. If the request fails, a partial answer is dropped.
 */
export async function askModel(given: Run, turn: number, attempt: number): Promise<Answer> {
  throwIfAborted(given.signal);
  given.packs.refresh();
  const { control } = given;
  const change = control?.beforeRequest ? await changeOf(control.beforeRequest, given, turn) : {};
  const run = changed(given, change);
  const { provider, conversation, signal, emit, stream, output, effort, scope, steps } = run;
  throwIfAborted(signal);
  const tools = run.tools.getSharedSchemas();
  const toolChoice = change.toolChoice ?? choiceFor(control?.toolChoice, turn);
  let replayed = true;
  // Ignore text that arrives after the abort: the user did not see it.
  const report = (event: AgentEvent): void => {
    if (!signal.aborted) emit(event);
  };
  const text = new AnswerText(report);
  const drafted = new Set<number>();
  const titleOnce = ({ index, name }: { index: number; name: string }) => {
    if (drafted.has(index)) return {};
    drafted.add(index);
    return { titleFrom: run.tools.titleFrom(name) };
  };
  const freeform = run.tools.getFreeform();
  const request: ChatRequest = {
    messages: requestMessages(
      systemText(run),
      change.messages ?? conversation.sessionContext,
      provider,
      output,
    ),
    tools,
    ...(freeform && { freeform }),
    signal,
    ...(output && { output: output.format }),
    ...(effort !== undefined && { effort }),
    ...(toolChoice !== undefined && { toolChoice }),
    onRetry: (retry) => {
      if (!signal.aborted) text.restart();
      drafted.clear();
      report({ type: "retry", ...retry });
    },
    onNotice: (text) => report({ type: "notice", text }),
    ...(stream && {
      onText: (piece: string) => {
        if (!signal.aborted) text.add(piece);
      },
      onReasoning: (text: string) => report({ type: "reasoning", text }),
      onToolDraft: (draft) => report({ type: "tool_draft", ...draft, ...titleOnce(draft) }),
    }),
  };
  const ask = (): Promise<ChatResponse> => {
    replayed = false;
    if (typeof toolChoice === "object") checkOffered(toolChoice.tool, tools);
    const answer = respondWithin(run, request);
    run.packs.warmUp();
    return answer;
  };
  try {
    const response = await orAborted(
      steps.answer({ scope, turn, kind: "answer", attempt, ...modelName(provider) }, ask),
      signal,
    );
    if (!signal.aborted) text.end(stream && !replayed ? (textOrNull(response.content) ?? "") : "");
    return { response, replayed, asked: run };
  } catch (error) {
    if (signal.aborted) {
      conversation.append({ role: "assistant", content: text.shown.toWellFormed(), stopped: true });
    }
    throw error;
  }
}

async function changeOf(
  beforeRequest: NonNullable<StepControl["beforeRequest"]>,
  { conversation, tools, meter, context, signal }: Run,
  turn: number,
): Promise<RequestChange> {
  const next = {
    turn,
    messages: conversation.sessionContext,
    tools: tools.getSharedSchemas().map((tool) => tool.function.name),
    usage: meter.total,
    ...(context !== undefined && { context }),
  } as NextRequest;
  return readChange(await orAborted(Promise.resolve(beforeRequest(next)), signal));
}

function changed(run: Run, { provider, tools, effort }: RequestChange): Run {
  if (!provider && !tools && effort === undefined) return run;
  return {
    ...run,
    ...(provider && { provider }),
    ...(tools && { tools: toolSubset(run.tools, new Set(tools)) }),
    ...(effort !== undefined && { effort }),
  };
}

const STOPPED = "[The user stopped this answer here.]";
const STOPPED_BEFORE = "[The user stopped this before there was an answer.]";

/**
 * The messages of a request: the system prompt, then the history in a form this provider accepts. Unchanged messages
 * are passed on as the same objects, and the same history always gives the same request, so that prompt caches hit.
 */
function requestMessages(
  systemPrompt: string,
  history: readonly ChatMessage[],
  provider: ChatProvider,
  output: OutputReader | undefined,
): ChatMessage[] {
  const accepts = (mediaType: string): boolean => provider.accepts?.(mediaType) ?? false;
  const system = withInstruction(systemPrompt.toWellFormed(), provider, output);
  const messages: ChatMessage[] = system === "" ? [] : [{ role: "system", content: system }];
  for (const message of history) {
    const adapted = adaptMessage(message, provider.id, accepts);
    const last = messages.at(-1);
    // A failed request or a steered message leaves two user messages in a row, which some servers refuse.
    if (adapted.role === "user" && last?.role === "user") {
      messages[messages.length - 1] = { role: "user", content: join(last.content, adapted.content) };
    } else {
      messages.push(adapted);
    }
  }
  return messages;
}

function adaptMessage(
  message: ChatMessage,
  provider: string | undefined,
  accepts: (mediaType: string) => boolean,
): ChatMessage {
  switch (message.role) {
    case "assistant": {
      const isOwn = message.state !== undefined && message.state.provider === provider;
      if (message.stopped === undefined && (message.state === undefined || isOwn)) return message;
      const { state, stopped, ...rest } = message;
      return {
        ...rest,
        ...(stopped && { content: stoppedText(rest.content) }),
        ...(isOwn && { state }),
      };
    }
    case "user": {
      const { from, generated } = message;
      if (from === undefined && !generated) return adaptParts(message, accepts);
      const content = from === undefined ? message.content : noticeContent(from, message.content);
      return adaptParts({ role: "user", content }, accepts);
    }
    case "tool":
      return adaptParts(message, accepts);
    default:
      return message;
  }
}

/** A message that the user did not write, after a line that names its sender. */
function noticeContent(from: string, content: Content): Content {
  return join(`[A notice from ${quote(from)}, not written by the user]`, content);
}

function adaptParts<M extends Extract<ChatMessage, { role: "user" | "tool" }>>(
  message: M,
  accepts: (mediaType: string) => boolean,
): M {
  if (typeof message.content === "string") return message;
  const content = adaptContent(message.content, accepts);
  return content === message.content ? message : { ...message, content };
}

function stoppedText(content: string | null): string {
  return content ? `${content}\n\n${STOPPED}` : STOPPED_BEFORE;
}

function withInstruction(system: string, provider: ChatProvider, output: OutputReader | undefined): string {
  if (!output || provider.nativeOutput) return system;
  const instruction = outputInstruction(output.format);
  return system === "" ? instruction : `${system}\n\n${instruction}`;
}

function join(first: Content, second: Content): Content {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...toParts(first), ...toParts(second)];
}

function toParts(content: Content): readonly ContentPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

// For programs that only print text: discard everything before this line.
export const STARTS_AGAIN = "\n\n[The answer starts again.]\n\n";

/**
 * The text of one answer as it is written. A repeated request sends the text from the start again; text that was
 * already reported is not reported a second time, so a program that only prints text prints the answer once.
 */
class AnswerText {
  readonly #emit: (event: TextEvent) => void;
  /** The reported text that is still valid, or not yet contradicted by the new attempt. */
  #shown = "";
  /** The text of the new attempt, while it matches what was reported before. */
  #attempt: string | undefined;

  constructor(emit: (event: TextEvent) => void) {
    this.#emit = emit;
  }

  /** The text that was reported and is valid. */
  get shown(): string {
    return this.#shown;
  }

  add(text: string): void {
    if (this.#attempt === undefined) {
      this.#shown += text;
      this.#emit({ type: "text", text });
      return;
    }
    this.#attempt += text;
    if (this.#shown.startsWith(this.#attempt)) return;
    this.#report(this.#attempt);
  }

  /** Called when the request is repeated: its text will arrive again from the start. */
  restart(): void {
    if (this.#attempt !== undefined || this.#shown !== "") this.#attempt = "";
  }

  /** The answer is complete. A provider that does not stream has not reported its text. */
  end(whole: string): void {
    if (this.#attempt !== undefined) this.#report(this.#attempt || whole);
    else if (this.#shown === "" && whole !== "") this.add(whole);
  }

  #report(whole: string): void {
    const text = whole.startsWith(this.#shown) ? whole.slice(this.#shown.length) : `${STARTS_AGAIN}${whole}`;
    this.#attempt = undefined;
    this.#shown = whole;
    this.#emit({ type: "text", text, whole });
  }
}

/** The upcoming request, for `beforeRequest`. */
export interface NextRequest<Context = unknown> {
  /** The number of model requests for this message, including this one. */
  readonly turn: number;
  readonly messages: readonly ChatMessage[];
  /** The names of the tools that the model is offered. */
  readonly tools: readonly string[];
  /** The tokens of all requests for this message so far. */
  readonly usage: TokenUsage;
  /** The `context` that was passed to `chat`. */
  readonly context: Context;
}

/** Changes by `beforeRequest`. They apply to this one request; the conversation is not changed. */
export interface RequestChange {
  /** Another model. */
  readonly provider?: ChatProvider;
  /** The only tools of this request: others are not offered, and calls to them are refused. */
  readonly tools?: readonly string[];
  readonly toolChoice?: ToolChoice;
  /** Messages that are sent instead of the conversation. */
  readonly messages?: readonly ChatMessage[];
  readonly effort?: Effort;
}

/** A completed tool round, for `stopWhen`. */
export interface CompletedRound<Context = unknown> {
  readonly turn: number;
  /** The text that came with the calls; often empty. */
  readonly text: string;
  /** The names of the tools that were called. */
  readonly calls: readonly string[];
  readonly usage: TokenUsage;
  /** The `context` that was passed to `chat`. */
  readonly context: Context;
}

/** Options that control the requests of one message. */
export interface StepControl<Context = unknown, Name extends string = string> {
  /**
   * Whether the model must call a tool. `required` and `{ tool }` apply to the first request of a message, so that the
   * model can answer afterwards; `none` applies to all. Default: the model decides.
   */
  readonly toolChoice?: ToolChoice<Name>;
  /**
   * Called before each request of this agent, but not of its child agents. Can change that request. If it throws, the
   * run fails.
   */
  readonly beforeRequest?: (
    next: NextRequest<Context>,
  ) => RequestChange | undefined | Promise<RequestChange | undefined>;
  /**
   * Called after the tools of an answer have run. `true` ends the run there, with the `finishReason` `tool_calls`; the
   * next message continues after the results.
   */
  readonly stopWhen?: (round: CompletedRound<Context>) => boolean | Promise<boolean>;
}

const CHOICES = ["auto", "none", "required"];

export const checkToolChoice: ValueCheck = (name, value) => {
  if (CHOICES.some((choice) => choice === value)) return;
  if (isRecord(value) && typeof value.tool === "string") return;
  throw invalidArgument(name, '"auto", "none", "required" or { tool: name }', value);
};

const CHANGES: OptionChecks<RequestChange> = {
  provider: (name, value) => {
    if (typeof (value as Partial<ChatProvider> | null)?.respond === "function") return;
    throw invalidArgument(name, "a ChatProvider with respond()", value);
  },
  tools: textsOf("tool names"),
  toolChoice: checkToolChoice,
  messages: arrayOf("messages"),
  effort: checkEffort,
};

/** Checks the value that `beforeRequest` returned. Throws `invalid_argument` if it is not a valid change. */
function readChange(change: unknown): RequestChange {
  if (change === undefined || change === null) return {};
  checkObject("The result of beforeRequest", change);
  checkOptions("beforeRequest", change as RequestChange, CHANGES);
  return change as RequestChange;
}

/** Throws `invalid_argument` for a forced tool that the model is not offered: its server would refuse the request. */
function checkOffered(name: string, tools: readonly ChatTool[]): void {
  const names = tools.map((tool) => tool.function.name);
  if (names.includes(name)) return;
  throw new AgentError(
    "invalid_argument",
    `toolChoice names ${quote(name)}, which is not an enabled tool. ${toolNameHint(name, names)}`,
  );
}

/** The tool choice of this request: one that forces a call applies only to the first request of a message. */
function choiceFor(choice: ToolChoice | undefined, turn: number): ToolChoice | undefined {
  return turn === 1 || choice === "none" ? choice : undefined;
}
