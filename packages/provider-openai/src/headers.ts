import type { OpenAISettings } from "./options.js";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The headers of every request, as OpenAI's SDK sends them, without those that describe the SDK itself. Written here,
 * because loading the SDK would take longer than the rest of the start; a test compares the two.
 */
export function requestHeaders(
  { apiKey, headers }: Pick<OpenAISettings, "apiKey" | "headers">,
  env: Environment = globalThis.process?.env ?? {},
): Record<string, string> {
  const organization = env.OPENAI_ORG_ID?.trim();
  const project = env.OPENAI_PROJECT_ID?.trim();
  return Object.fromEntries([
    ["accept", "application/json"],
    ...(organization ? [["openai-organization", organization]] : []),
    ...(project ? [["openai-project", project]] : []),
    ...(apiKey === "" ? [] : [["authorization", `Bearer ${apiKey}`]]),
    ...customHeaders(env.OPENAI_CUSTOM_HEADERS ?? ""),
    ...Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ]);
}

/** Parses one `name: value` per line. */
function customHeaders(text: string): string[][] {
  return text.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 0 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]];
  });
}
