import { quote } from "@agent/core/toolkit";

const TEXT_TYPE = /^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|yaml)\b)/i;

/** The body as text, at most `maxBytes` of it. Throws if it is not text; never reads past the limit. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const type = response.headers.get("content-type") ?? "text/plain";
  if (!TEXT_TYPE.test(type)) {
    await response.body?.cancel();
    throw new Error(`The answer is ${quote(type)}, not text. Only text can be fetched.`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the body, so that a response without an end is not read any further.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  // `stream: true` drops half a character at the cut instead of decoding it as U+FFFD.
  const text = new TextDecoder(charset(type)).decode(bytes.subarray(0, maxBytes), {
    stream: size > maxBytes,
  });
  return size <= maxBytes ? text : `${text}\n[… truncated: only the first ${maxBytes} bytes were read.]`;
}

function charset(type: string): string {
  const [, name = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return "utf-8";
  }
}
