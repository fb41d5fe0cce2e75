import { isRecord, quote } from "@agent/core/toolkit";

/**
 * The JSON that answers the request `id`. One that answers another request, which was never sent, becomes an error: the
 * SDK would wait for the deadline of the call. What is no JSON is left to the SDK, which says so.
 */
export function ownAnswer(text: string, id: string | number): string {
  const foreign = foreignId(text, id);
  if (foreign === undefined) return text;
  const message = `it answered a request that was never sent (id ${quote(foreign)})`;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } });
}

/** The id of an answer that does not fit; undefined if one fits. */
function foreignId(text: string, id: string | number): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Revision 2025-03-26 allowed several messages in one array.
  const answers = (Array.isArray(parsed) ? parsed : [parsed])
    .filter(isRecord)
    .filter((message) => "result" in message || "error" in message);
  if (answers.length === 0 || answers.some((message) => String(message.id) === String(id))) return undefined;
  // An error without an id is one about the request as a whole, and has words of its own.
  const [first] = answers;
  return first?.id === undefined || first.id === null ? undefined : String(first.id);
}
