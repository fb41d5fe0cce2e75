import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { ChatHandlers } from "./handlers.js";

const ORIGIN = "http://localhost";

/** The parts of a request of Node's HTTP server or of Express that are used. Programs need no types of Node for it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What Express adds once a body parser has read the request. */
  readonly body?: unknown;
}

/** The parts of a response that are used. */
export interface NodeResponse {
  writeHead(status: number, headers?: Readonly<Record<string, string>>): unknown;
  end(): unknown;
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
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const [incoming, outgoing] = [request as ParsedRequest, response as ServerResponse];
    if (incoming.method !== "GET" && incoming.method !== "POST") {
      outgoing.writeHead(405, { allow: "GET, POST" }).end();
      return;
    }
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const asked = toRequest(incoming, gone.signal);
    const answer = asked && (await handlers[incoming.method](asked));
    // Close the connection after the response: the unread rest of the body would be parsed as the next request.
    if (!incoming.complete) outgoing.shouldKeepAlive = false;
    if (answer) await send(answer, outgoing);
    else outgoing.writeHead(400).end();
  };
}

type ParsedRequest = IncomingMessage & Pick<NodeRequest, "body">;

/** Converts to a web `Request`; `undefined` if the URL or the body is invalid. Never throws: that would end the program. */
function toRequest(incoming: ParsedRequest, signal: AbortSignal): Request | undefined {
  const url = addressOf(incoming.url ?? "/");
  if (url === undefined) return undefined;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    // Skip the pseudo-headers of HTTP/2, which begin with a colon.
    if (value === undefined || name.startsWith(":")) continue;
    headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const { method = "GET" } = incoming;
  if (method === "GET") return new Request(url, { method, headers, signal });
  const body = incoming.body === undefined ? Readable.toWeb(incoming) : toJson(incoming.body);
  if (body === undefined) return undefined;
  return new Request(url, { method, headers, signal, body, duplex: "half" } as RequestInit);
}

/** Serialises the body again if a body parser has already read the stream. */
function toJson(body: unknown): string | undefined {
  try {
    return JSON.stringify(body);
  } catch {
    // It is nested too deeply for `JSON.stringify`, though not for the parser.
    return undefined;
  }
}

/** The URL of a request. Only its path matters: the host is chosen by the client, and "//x" at the start is a path. */
function addressOf(target: string): string | undefined {
  if (target.startsWith("/")) return `${ORIGIN}${target}`;
  if (!URL.canParse(target)) return undefined;
  const { pathname, search } = new URL(target);
  return `${ORIGIN}${pathname}${search}`;
}

async function send(answer: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  // A client that disconnects is not an error.
  await pipeline(Readable.fromWeb(answer.body as NodeReadableStream), outgoing).catch(() => undefined);
}
