import { describeValue, errorMessage, isRecord } from "@agent/internal";
import { AgentError, isAgentError, withProvider } from "../errors.js";
import type { ChatProvider, ChatRequest, ChatResponse, TokenUsage } from "../providers/interface.js";
import type { Run } from "./run.js";
import type { TelemetryAttributes } from "./telemetry.js";
import { withCost } from "./usage.js";

/** Sends one model request inside its own span. Rejects with a coded error, whatever the provider does. */
export function respond(
  { provider, telemetry, context }: Pick<Run, "provider" | "telemetry" | "context">,
  request: ChatRequest,
): Promise<ChatResponse> {
  const attributes = {
    ...providerAttributes(provider),
    ...(request.output && { "gen_ai.output.type": "json" }),
  };
  const span = { operation: "chat", name: provider.model ?? "model", attributes, context } as const;
  return telemetry.inSpan(span, async (set) => {
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

/** The provider and model, as far as the provider reports them. */
export function providerAttributes({ id, model, address }: ChatProvider): TelemetryAttributes {
  return {
    ...(id !== undefined && { "gen_ai.provider.name": conventionalName(id) }),
    ...(address !== undefined && serverAttributes(address)),
    ...(model !== undefined && { "gen_ai.request.model": model }),
  };
}

/** The provider name in OpenTelemetry's conventions, which may differ from the name of its API. */
function conventionalName(id: string): string {
  const [wire = id, host = ""] = id.split(":", 2);
  if (wire === "google") return "gcp.gemini";
  if (!/^openai-(chat|responses)$/.test(wire)) return id;
  const [, name] = OPENAI_COMPATIBLE.find(([pattern]) => pattern.test(host)) ?? [];
  return name ?? "openai";
}

// Servers with an OpenAI-compatible API that have a separate name in the conventions.
const OPENAI_COMPATIBLE: readonly (readonly [RegExp, string])[] = [
  [/\.openai\.azure\.com$/, "azure.ai.openai"],
  [/(^|\.)mistral\.ai$/, "mistral_ai"],
  [/(^|\.)groq\.com$/, "groq"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)perplexity\.ai$/, "perplexity"],
  [/(^|\.)x\.ai$/, "x_ai"],
];

function serverAttributes(address: string): TelemetryAttributes {
  if (!URL.canParse(address)) return {};
  const { hostname, port, protocol } = new URL(address);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "http:" ? 80 : 443) };
}

/** The name of the requested model, for steps. */
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
