import { orAborted, throwIfAborted } from "./abort.js";
import type { ApprovalGate } from "./approval.js";
import { type ContextLimits, fitContext } from "./context.js";
import { AgentError, isAgentError } from "./errors.js";
import type { AgentEvent, DoneEvent } from "./events.js";
import type {
  ChatMessage,
  ChatProvider,
  ChatRequest,
  ChatResponse,
  TokenUsage,
} from "./providers/interface.js";
import { RepeatCounter } from "./repeats.js";
import { describeValue, errorMessage } from "./toolkit/describe.js";
import { runToolRound, textOrNull } from "./toolRound.js";
import type { ToolRegistry } from "./tools/registry.js";

export interface LoopLimits extends ContextLimits {
  readonly maxTurns: number;
  readonly maxRepeats: number;
  readonly maxTurnOutputBytes: number;
}

/** What the loop works on. `messages` is the live conversation: whole rounds are added to it, never halves. */
export interface LoopState {
  readonly provider: ChatProvider;
  readonly registry: ToolRegistry;
  readonly messages: ChatMessage[];
  readonly systemPrompt: () => string;
  readonly approvals: ApprovalGate | undefined;
  readonly limits: LoopLimits;
}

export interface LoopRun {
  readonly stream: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/**
 * The one loop behind `chat` and `streamChat`: ask the model, run the tools it wants, until it answers
 * without any. Returns the event that ends the exchange; after every other way out, too, the conversation is one
 * that a provider accepts.
 */
export async function runLoop(state: LoopState, run: LoopRun): Promise<DoneEvent> {
  const { messages, limits, approvals } = state;
  const { signal, emit } = run;
  const repeats = new RepeatCounter(limits.maxRepeats);
  let usage: TokenUsage = { inputTokens: 0, outputTokens: 0 };

  for (let turn = 1; turn <= limits.maxTurns; turn++) {
    const response = await askWithinContext(state, run);
    if (response.usage) {
      usage = add(usage, response.usage);
      emit({ type: "usage", usage: response.usage, total: usage });
    }
    if (response.toolCalls.length === 0) {
      const text = textOrNull(response.content) ?? "";
      messages.push({ role: "assistant", content: text });
      return { type: "done", text, finishReason: response.finishReason, turns: turn, usage };
    }
    const round = await runToolRound(response, {
      registry: state.registry,
      signal,
      emit,
      maxOutputBytes: limits.maxTurnOutputBytes,
      ...(approvals && { approve: (call) => approvals.check({ ...call, signal }) }),
    });
    messages.push(...repeats.annotate(round.signature, round.messages));
    throwIfAborted(signal);
    repeats.throwIfStuck();
  }
  throw new AgentError(
    "turn_limit",
    `Stopped after ${limits.maxTurns} turns without an answer. Send another message to go on, or raise maxTurns.`,
  );
}

/** Asks the model; a conversation that is too long for it is made shorter and asked once more. */
async function askWithinContext(state: LoopState, run: LoopRun): Promise<ChatResponse> {
  await fitContext(state, run, state.limits.contextTokens);
  try {
    return await ask(state, run);
  } catch (error) {
    if (!isAgentError(error, "context_overflow")) throw error;
    if (!(await fitContext(state, run, "half"))) throw error;
    return await ask(state, run);
  }
}

function ask(state: LoopState, { signal, emit, stream }: LoopRun): Promise<ChatResponse> {
  throwIfAborted(signal);
  const system = state.systemPrompt().toWellFormed();
  const request: ChatRequest = {
    messages: system === "" ? [...state.messages] : [{ role: "system", content: system }, ...state.messages],
    tools: state.registry.getSharedSchemas(),
    signal,
    onRetry: (retry) => emit({ type: "retry", ...retry }),
    ...(stream && { onText: (text) => emit({ type: "text", text }) }),
  };
  return orAborted(respond(state.provider, request), signal);
}

/** The provider's answer, or a coded error, whatever the provider does. */
async function respond(provider: ChatProvider, request: ChatRequest): Promise<ChatResponse> {
  let response: ChatResponse;
  try {
    response = await provider.respond(request);
  } catch (error) {
    if (isAgentError(error)) throw error;
    throw new AgentError("provider_failed", `The provider failed: ${errorMessage(error)}`, { cause: error });
  }
  if (Array.isArray(response?.toolCalls)) return response;
  throw new AgentError(
    "provider_failed",
    `The provider resolved to ${describeValue(response)}, not to a response.`,
  );
}

function add(a: TokenUsage, b: TokenUsage): TokenUsage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}
