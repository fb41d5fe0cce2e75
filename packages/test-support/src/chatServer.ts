import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

/** One request as the server received it. */
export interface ReceivedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly stream?: boolean;
    readonly messages: unknown[];
    readonly [field: string]: unknown;
  };
  /** Resolves when its connection is closed. */
  readonly closed: Promise<void>;
}

/** Answers one request. */
export type Reply = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface ChatServer {
  readonly baseURL: string;
  readonly requests: readonly ReceivedRequest[];
  /** The upcoming replies, one per request. A request beyond them is answered with status 418 and an explanation. */
  script(...replies: Reply[]): void;
  /** Resolves with the next request that arrives. */
  nextRequest(): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

/** A scripted chat completions endpoint on the loopback interface. */
export async function startChatServer(): Promise<ChatServer> {
  const requests: ReceivedRequest[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  let replies: Reply[] = [];
  const server = createServer(async (message, response) => {
    const request = await receive(message);
    requests.push(request);
    for (const resolve of waiting.splice(0)) resolve(request);
    const reply = replies.shift() ?? json({ error: { message: "the script is over" } }, 418);
    await reply(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script: (...next) => {
      replies = next;
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function receive(message: IncomingMessage): Promise<ReceivedRequest> {
  let text = "";
  for await (const part of message.setEncoding("utf8")) text += part;
  const { url = "", headers, socket } = message;
  return { url, headers, body: JSON.parse(text || "{}"), closed: whenClosed(socket) };
}

// One promise a connection: it carries many requests.
const closing = new WeakMap<Socket, Promise<void>>();

function whenClosed(socket: Socket): Promise<void> {
  const closed = closing.get(socket) ?? new Promise((resolve) => socket.once("close", () => resolve()));
  closing.set(socket, closed);
  return closed;
}

/** A JSON body, or with a string any text. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/**
 * A body in pieces, each sent separately. `end: "cut"` breaks the connection after the last, `"open"` leaves it open.
 */
export function pieces(
  parts: readonly (string | Uint8Array)[],
  {
    contentType = "text/event-stream",
    end = "clean",
  }: { contentType?: string; end?: "clean" | "cut" | "open" } = {},
): Reply {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": contentType });
    response.flushHeaders();
    for (const part of parts) {
      await setImmediate();
      response.write(part);
    }
    if (end === "clean") response.end();
    if (end === "cut") setTimeout(() => response.destroy(), 20);
  };
}

/** Server-sent events, one for each chunk, and the end mark. */
export function events(...chunks: unknown[]): Reply {
  return pieces([...chunks.map(event), "data: [DONE]\n\n"]);
}

export function event(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** Accepts the request and never answers. */
export const silence: Reply = () => undefined;

/** Breaks the connection without an answer. */
export const reset: Reply = (_request, response) => {
  response.socket?.resetAndDestroy();
};

interface WireCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly type?: string;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown };
}

/** One streamed piece of an answer. */
export function chunk(delta: unknown, finish: string | null = null): unknown {
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** The same answer, as a JSON body or as a stream, whichever the request asks for. */
export function answer(
  {
    content = null,
    calls = [],
    finish,
  }: { content?: string | null; calls?: readonly WireCall[]; finish?: string },
  usage = { prompt_tokens: 3, completion_tokens: 2 },
): Reply {
  const reason = finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  return (request, response) => {
    const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
    if (!request.body.stream) {
      return json({ choices: [{ index: 0, message, finish_reason: reason }], usage })(request, response);
    }
    const text = [...(content ?? "")].map((character) => chunk({ content: character }));
    const deltas = calls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] }));
    return events(...text, ...deltas, chunk({}, reason), { choices: [], usage })(request, response);
  };
}

/** A function call as the API writes it. */
export function call(id: string, name: string, args: unknown): WireCall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
}
