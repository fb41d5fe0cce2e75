import { AgentError, isAgentError } from "../errors.js";
import type { AgentEvent } from "../events.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "../providers/interface.js";
import { orAborted, throwIfAborted } from "../toolkit/abort.js";
import { describeValue, errorMessage } from "../toolkit/describe.js";
import { isRecord } from "../toolkit/isRecord.js";
import type { Exchange } from "./exchange.js";
import { requestMessages } from "./request.js";

/** An answer of the model, and whether a journal gave it. */
export interface Answer {
  readonly response: ChatResponse;
  readonly replayed: boolean;
}

/**
 * Asks the model for its next answer, through the steps. What it had written when the user stopped it stays in the
 * conversation, marked; half an answer that a fault cut off does not.
 */
export async function askModel(exchange: Exchange, turn: number, attempt: number): Promise<Answer> {
  const { provider, conversation, signal, emit, stream, output, telemetry, scope, steps } = exchange;
  throwIfAborted(signal);
  let written = "";
  let replayed = true;
  // What a provider still sends after the abort is not part of what the user stopped.
  const report = (event: AgentEvent): void => {
    if (!signal.aborted) emit(event);
  };
  const request: ChatRequest = {
    messages: requestMessages(conversation.systemPrompt, conversation.sessionContext, provider, output),
    tools: exchange.tools.getSharedSchemas(),
    signal,
    ...(output && { output: output.format }),
    onRetry: (retry) => {
      if (!signal.aborted) written = "";
      report({ type: "retry", ...retry });
    },
    onNotice: (text) => report({ type: "notice", text }),
    ...(stream && {
      onText: (text: string) => {
        if (!signal.aborted) written += text;
        report({ type: "text", text });
      },
      onReasoning: (text: string) => report({ type: "reasoning", text }),
      onToolDraft: (draft) => report({ type: "tool_draft", ...draft }),
    }),
  };
  const ask = (): Promise<ChatResponse> => {
    replayed = false;
    return telemetry.inSpan(
      { operation: "chat", name: provider.model ?? "model", attributes: {} },
      async (set) => {
        const response = await respond(provider, request);
        set(responseAttributes(response));
        return response;
      },
    );
  };
  try {
    const response = await orAborted(steps.answer({ scope, turn, kind: "answer", attempt }, ask), signal);
    return { response, replayed };
  } catch (error) {
    if (signal.aborted) {
      conversation.append({ role: "assistant", content: written.toWellFormed(), stopped: true });
    }
    throw error;
  }
}

/** The provider's answer, or a coded error, whatever the provider does. */
export async function respond(provider: ChatProvider, request: ChatRequest): Promise<ChatResponse> {
  let response: ChatResponse;
  try {
    response = await provider.respond(request);
  } catch (error) {
    if (isAgentError(error)) throw error;
    throw new AgentError("provider_failed", `The provider failed: ${errorMessage(error)}`, { cause: error });
  }
  if (isRecord(response) && Array.isArray(response.toolCalls)) return response;
  throw new AgentError(
    "provider_failed",
    `The provider resolved to ${describeValue(response)}, not to a response.`,
  );
}

function responseAttributes({
  finishReason,
  usage,
}: ChatResponse): Record<string, string | number | string[]> {
  return {
    "gen_ai.response.finish_reasons": [finishReason],
    ...(usage && {
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      ...(usage.cachedTokens !== undefined && {
        "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
      }),
    }),
  };
}
