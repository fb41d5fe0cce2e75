import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { ChatHandlers } from "./handlers.js";

/** What Express adds to a request once a body parser has read it. */
interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown;
}

/**
 * The handler pair as a listener of Node's own HTTP server and of Express.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { toNodeListener } from "@agent/web/node";
 * import type { ChatHandlers } from "@agent/web/server";
 *
 * const serve = (handlers: ChatHandlers) => createServer(toNodeListener(handlers)).listen(3000, "127.0.0.1");
 * ```
 */
export function toNodeListener(
  handlers: Pick<ChatHandlers, "GET" | "POST">,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    if (incoming.method !== "GET" && incoming.method !== "POST") {
      outgoing.writeHead(405, { allow: "GET, POST" }).end();
      return;
    }
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const request = toRequest(incoming, gone.signal);
    await send(await handlers[incoming.method](request), outgoing);
  };
}

function toRequest(incoming: ParsedRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  // Only the path counts; the host is whatever the client claims.
  const url = new URL(incoming.url ?? "/", "http://localhost");
  const { method = "GET" } = incoming;
  if (method === "GET") return new Request(url, { method, headers, signal });
  // A body parser has already read the stream: what it made of it is written as JSON again.
  const body = incoming.body === undefined ? Readable.toWeb(incoming) : JSON.stringify(incoming.body);
  return new Request(url, { method, headers, signal, body, duplex: "half" } as RequestInit);
}

async function send(answer: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  // A reader that leaves is no failure.
  await pipeline(Readable.fromWeb(answer.body as NodeReadableStream), outgoing).catch(() => undefined);
}
