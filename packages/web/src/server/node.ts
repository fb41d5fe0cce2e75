import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { errorMessage } from "@agent/core/toolkit";
import type { ChatHandlers } from "./handlers.js";

const ORIGIN = "http://localhost";

/**
 * The parts of a request that are used, of Node's HTTP server, Express, Nest or Fastify; or the context of Koa.
 * Programs do not need Node's types for it.
 */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The parsed body, if a body parser has read the request. */
  readonly body?: unknown;
  /** Node's own request, in a request of Fastify. */
  readonly raw?: object | undefined;
  /** Node's own request and response, and Koa's request, in a context of Koa. */
  readonly req?: object | undefined;
  readonly res?: object | undefined;
  readonly request?: { readonly body?: unknown } | undefined;
}

/** The parts of a response that are used. Koa passes its next middleware instead. */
export type NodeResponse =
  | { writeHead(status: number, headers?: Readonly<Record<string, string>>): unknown; end(): unknown }
  | { readonly raw: object; hijack(): unknown }
  | (() => Promise<unknown>);

/**
 * Converts the handler pair to a listener of Node's HTTP server, or a route of Express, Nest, Fastify or Koa, with or
 * without a body parser before it. Never throws and never rejects: an error is answered with status 500.
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
  handlers: Pick<ChatHandlers, "GET" | "POST" | "OPTIONS">,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const { incoming, outgoing, body } = unwrap(request, response);
    try {
      await serve(handlers, incoming, outgoing, body);
    } catch (error) {
      process.emitWarning(errorMessage(error), "ChatHandlerWarning");
      if (outgoing.headersSent) outgoing.destroy();
      else answer(outgoing, 500, "The server could not answer this request.");
    }
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: unknown;
}

/** Node's own request and response, and the body that a framework has parsed. */
function unwrap(request: NodeRequest, response: NodeResponse): Exchange {
  if (request.req !== undefined && request.res !== undefined) {
    // Koa answers by itself unless the context disables it.
    Object.assign(request, { respond: false });
    return {
      incoming: request.req as IncomingMessage,
      outgoing: request.res as ServerResponse,
      body: request.request?.body,
    };
  }
  if ("hijack" in response && request.raw !== undefined) {
    response.hijack();
    return {
      incoming: request.raw as IncomingMessage,
      outgoing: response.raw as ServerResponse,
      body: request.body,
    };
  }
  return { incoming: request as IncomingMessage, outgoing: response as ServerResponse, body: request.body };
}

async function serve(
  handlers: Pick<ChatHandlers, "GET" | "POST" | "OPTIONS">,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: unknown,
): Promise<void> {
  const { method } = incoming;
  if (method !== "GET" && method !== "POST" && method !== "OPTIONS") {
    outgoing.writeHead(405, { allow: "GET, POST, OPTIONS" }).end();
    return;
  }
  const url = addressOf(incoming.url ?? "/");
  if (url === undefined) return answer(outgoing, 400, "The address of this request is not valid.");
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const init = { method, headers: headersOf(incoming), signal: gone.signal };
  if (method !== "POST") return await send(await handlers[method](new Request(url, init)), outgoing);
  if (body === undefined && incoming.readableDidRead) {
    throw new Error(
      "A body parser has read the request, and its body is missing: pass the framework's own request to the listener.",
    );
  }
  const source = body === undefined ? Readable.toWeb(incoming) : toText(body);
  if (source === undefined) return answer(outgoing, 400, "The body is nested too deeply.");
  const asked = new Request(url, { ...init, body: source, duplex: "half" } as RequestInit);
  const answered = await handlers.POST(asked);
  // Close the connection after the response: the unread rest of the body would be parsed as the next request.
  if (!incoming.complete) outgoing.shouldKeepAlive = false;
  await send(answered, outgoing);
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    // Skip the pseudo-headers of HTTP/2, which begin with a colon.
    if (value === undefined || name.startsWith(":")) continue;
    headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  // HTTP/2 has the host in a pseudo-header.
  const authority = incoming.headers[":authority"];
  if (typeof authority === "string") headers.set("host", authority);
  return headers;
}

/** The text of a body that a parser has read: unchanged, or serialised again. */
function toText(body: unknown): string | Uint8Array | undefined {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  try {
    return JSON.stringify(body);
  } catch {
    // It is nested too deeply for `JSON.stringify`, although not for the parser.
    return undefined;
  }
}

function answer(outgoing: ServerResponse, status: number, error: string): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

/** The URL of a request. Only its path matters: the host is chosen by the client, and "//x" at the start is a path. */
function addressOf(target: string): string | undefined {
  if (target.startsWith("/")) return `${ORIGIN}${target}`;
  if (!URL.canParse(target)) return undefined;
  const { pathname, search } = new URL(target);
  return `${ORIGIN}${pathname}${search}`;
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // The only header that a response may have several times.
    ...(cookies.length > 0 && { "set-cookie": cookies }),
  });
  if (!response.body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  // A client that disconnects is not an error.
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch(() => undefined);
}
