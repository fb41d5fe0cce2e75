import type { ModelInfo, ModelPrice } from "@agent/core";
import { type HttpEndpoint, isRecord, recordsIn } from "@agent/core/provider";

const MILLION = 1_000_000;
/** Who llama.cpp and Ollama say owns their models. */
export const LOCAL_OWNERS: readonly unknown[] = ["llamacpp", "library"];
/** Where compatible servers state the context: LM Studio, vLLM, OpenRouter and Together, Groq, Mistral. */
const CONTEXT_FIELDS = [
  "loaded_context_length",
  "max_model_len",
  "context_length",
  "context_window",
  "max_context_length",
];

/** A model as a server lists it under `/models`, with the facts that the server states. */
export function modelInfo(entry: Readonly<Record<string, unknown>>): ModelInfo[] {
  const { id, name, top_provider: top, pricing } = entry;
  if (typeof id !== "string") return [];
  const contextTokens = CONTEXT_FIELDS.map((field) => entry[field]).find(isCount);
  const outputTokens = isRecord(top) ? top.max_completion_tokens : undefined;
  const price = readPrice(pricing);
  return [
    {
      id,
      ...(typeof name === "string" && { name }),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(isCount(outputTokens) && { outputTokens }),
      ...(price && { price }),
    },
  ];
}

/** OpenRouter's prices: dollars per token, as text. Negative where the model behind the name varies. */
function readPrice(pricing: unknown): ModelPrice | undefined {
  if (!isRecord(pricing)) return undefined;
  const dollars = (field: string): number => {
    const text = pricing[field];
    return typeof text === "string" && text !== "" ? round(Number(text) * MILLION) : Number.NaN;
  };
  const [input, output] = [dollars("prompt"), dollars("completion")];
  if (!(input >= 0) || !(output >= 0)) return undefined;
  const [cachedInput, cacheWrite] = [dollars("input_cache_read"), dollars("input_cache_write")];
  return {
    input,
    output,
    ...(cachedInput >= 0 && { cachedInput }),
    ...(cacheWrite >= 0 && { cacheWrite }),
  };
}

/** Removes the error of floating-point multiplication. */
function round(dollars: number): number {
  return Number(dollars.toPrecision(12));
}

/**
 * The context that llama.cpp and Ollama run a model with. Their `/models` does not state it, and the maximum of the
 * model is often larger: the server would cut a longer conversation without an error.
 */
export async function runningContext(
  owner: string,
  endpoint: HttpEndpoint,
  signal: AbortSignal,
): Promise<(model: string) => number | undefined> {
  const ask = (path: string): Promise<unknown> =>
    endpoint.attempts(
      { signal },
      async (idle) => await endpoint.readJson(await endpoint.open(path, undefined, idle), idle),
      "state its context",
    );
  if (owner === "llamacpp") {
    const props = await ask("/props");
    const settings = isRecord(props) ? props.default_generation_settings : undefined;
    const tokens = isRecord(settings) ? settings.n_ctx : undefined;
    return () => (isCount(tokens) ? tokens : undefined);
  }
  const running = await ask("/api/ps");
  const loaded = recordsIn(isRecord(running) ? running.models : undefined);
  return (model) => {
    const tokens = loaded.find(({ name }) => name === model)?.context_length;
    return isCount(tokens) ? tokens : undefined;
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
