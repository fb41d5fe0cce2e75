import { AgentError, isAgentError } from "../errors.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "../providers/interface.js";
import { orAborted, throwIfAborted } from "../toolkit/abort.js";
import { describeValue, errorMessage } from "../toolkit/describe.js";
import { isRecord } from "../toolkit/isRecord.js";
import type { Exchange } from "./exchange.js";
import { requestMessages } from "./request.js";

/**
 * Asks the model for its next answer, through the steps. What it had written when the user stopped it stays in the
 * conversation, marked; half an answer that a fault cut off does not.
 */
export async function askModel(exchange: Exchange, turn: number, attempt: number): Promise<ChatResponse> {
  const { provider, conversation, signal, emit, stream, output, telemetry, scope, steps } = exchange;
  throwIfAborted(signal);
  let written = "";
  const request: ChatRequest = {
    messages: requestMessages(conversation.systemPrompt, conversation.sessionContext, provider, output),
    tools: exchange.tools.getSharedSchemas(),
    signal,
    ...(output && { output: output.format }),
    onRetry: (retry) => {
      written = "";
      emit({ type: "retry", ...retry });
    },
    ...(stream && {
      onText: (text: string) => {
        // What a provider still sends after the abort is not part of what the user stopped.
        if (signal.aborted) return;
        written += text;
        emit({ type: "text", text });
      },
      onReasoning: (text: string) => emit({ type: "reasoning", text }),
      onToolDraft: (draft) => emit({ type: "tool_draft", ...draft }),
    }),
  };
  const ask = (): Promise<ChatResponse> =>
    telemetry.inSpan({ operation: "chat", name: provider.model ?? "model", attributes: {} }, async (set) => {
      const response = await respond(provider, request);
      set(responseAttributes(response));
      return response;
    });
  try {
    return await orAborted(steps.answer({ scope, turn, kind: "answer", attempt }, ask), signal);
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
