import { headerSecrets, isRecord } from "@agent/core/provider";
import type { OpenAIClient, OpenAISettings } from "./options.js";

/**
 * What must never appear in a message: the keys of the options, of the headers that are really sent (the environment may
 * add some), and of a ready client. Read for each message, because a client may fetch a new key before each request.
 */
export function secretsOf(
  { secrets, client }: OpenAISettings,
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  return [...secrets, ...headerSecrets(headers), ...(client ? clientSecrets(client) : [])];
}

function clientSecrets(client: OpenAIClient): string[] {
  const { apiKey } = client;
  return [...(typeof apiKey === "string" ? [apiKey] : []), ...headerSecrets(clientHeaders(client))];
}

/** The headers that the client was made with, in any of the forms that the SDK takes or turns them into. */
function clientHeaders(client: OpenAIClient): Record<string, string> {
  const { _options: options } = client as { readonly _options?: unknown };
  const given = isRecord(options) ? options.defaultHeaders : undefined;
  const headers = isRecord(given) && given.values instanceof Headers ? given.values : given;
  const entries = headers instanceof Headers || Array.isArray(headers) ? [...headers] : entriesOf(headers);
  const texts = entries.filter((entry) => Array.isArray(entry) && typeof entry[1] === "string");
  return Object.fromEntries(texts) as Record<string, string>;
}

function entriesOf(headers: unknown): [string, unknown][] {
  return isRecord(headers) ? Object.entries(headers) : [];
}
