import { isRecord } from "@agent/core/toolkit";

const LIMIT_MS = 3000;
const MOST_MODELS = 500;

/** Asks an OpenAI-compatible server which models it has. Rejects if it does not say so in time. */
export async function listModels(
  baseURL: string,
  apiKey: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const response = await fetch(`${baseURL.replace(/\/+$/, "")}/models`, {
    headers: {
      ...headers,
      ...(apiKey !== undefined && apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
    },
    // A redirect could carry the key to another server.
    redirect: "error",
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const answer: unknown = await response.json();
  const data = isRecord(answer) && Array.isArray(answer.data) ? answer.data : [];
  return data
    .flatMap((model) => (isRecord(model) && typeof model.id === "string" ? [model.id] : []))
    .slice(0, MOST_MODELS)
    .sort();
}
