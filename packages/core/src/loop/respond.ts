import { describeValue, errorMessage, isRecord } from "@agent/internal";
import { AgentError, isAgentError, withProvider } from "../errors.js";
import type { ChatProvider, ChatRequest, ChatResponse, TokenUsage } from "../providers/interface.js";
import type { Exchange } from "./exchange.js";
import type { TelemetryAttributes } from "./telemetry.js";
import { withCost } from "./usage.js";

/** One request to the model, inside a span of its own. Rejects with a coded error, whatever the provider does. */
export function respond(
  { provider, telemetry }: Pick<Exchange, "provider" | "telemetry">,
  request: ChatRequest,
): Promise<ChatResponse> {
  const attributes = {
    ...providerAttributes(provider),
    ...(request.output && { "gen_ai.output.type": "json" }),
  };
  return telemetry.inSpan({ operation: "chat", name: provider.model ?? "model", attributes }, async (set) => {
    const response = await askProvider(provider, request);
    set(
      { "gen_ai.response.finish_reasons": [response.finishReason], ...usageAttributes(response.usage) },
      () => ({
        "gen_ai.input.messages": JSON.stringify(request.messages),
        "gen_ai.output.messages": JSON.stringify([
          { role: "assistant", content: response.content, tool_calls: response.toolCalls },
        ]),
      }),
    );
    return response;
  });
}

/** The provider and model, as far as the provider names them. */
export function providerAttributes({ id, model }: ChatProvider): TelemetryAttributes {
  return {
    ...(id !== undefined && { "gen_ai.provider.name": id }),
    ...(model !== undefined && { "gen_ai.request.model": model }),
  };
}

/** The name of what is asked, for the steps. */
export function modelName({ id, model }: ChatProvider): { readonly model?: string } {
  const name = [id, model].filter((part) => part !== undefined).join("/");
  return name === "" ? {} : { model: name };
}

export function usageAttributes(usage: TokenUsage | undefined): TelemetryAttributes {
  if (!usage) return {};
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    ...(cachedTokens !== undefined && { "gen_ai.usage.cache_read.input_tokens": cachedTokens }),
    ...(cacheWriteTokens !== undefined && { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens }),
  };
}

async function askProvider(provider: ChatProvider, request: ChatRequest): Promise<ChatResponse> {
  let response: ChatResponse;
  try {
    response = await provider.respond(request);
  } catch (error) {
    if (isAgentError(error)) throw withProvider(error, provider.id);
    throw withProvider(
      new AgentError("provider_failed", `The provider failed: ${errorMessage(error)}`, { cause: error }),
      provider.id,
    );
  }
  if (isRecord(response) && Array.isArray(response.toolCalls)) return withCost(response, provider.price);
  throw new AgentError(
    "provider_failed",
    `The provider resolved to ${describeValue(response)}, not to a response.`,
  );
}
