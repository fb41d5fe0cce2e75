const MAX_ERROR_BODY_BYTES = 64 * 1024;

/**
 * `fetch` for the SDK, with two things mended in answers that are errors: the body is bounded, and one without
 * the API's `error` object (`{"detail": …}`, `{"message": …}`) gets it. The SDK would say "no body" instead.
 */
export async function fetchWithReadableErrors(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const response = await fetch(input, init);
  if (response.ok || !response.body) return response;
  const text = await readStart(response.body);
  const { status, statusText, headers } = response;
  const kept = new Headers(headers);
  // They describe the body as it was sent, not the one handed on.
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) kept.delete(name);
  return new Response(withErrorObject(text), { status, statusText, headers: kept });
}

async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size >= MAX_ERROR_BODY_BYTES) break;
    }
  } catch {
    // The status says enough; what arrived of the body is a bonus.
  }
  return Buffer.concat(parts).toString("utf8", 0, MAX_ERROR_BODY_BYTES);
}

function withErrorObject(text: string): string {
  let data: Record<string, unknown> | null;
  try {
    data = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof data !== "object" || data === null || data.error) return text;
  const message = data.message ?? data.detail;
  return JSON.stringify({ error: message === undefined ? data : { ...data, message } });
}
