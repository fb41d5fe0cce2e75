import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord } from "@agent/core/toolkit";

/** One request as the server received it. */
export interface ReceivedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Resolves when its connection is closed. */
  readonly closed: Promise<void>;
}

/** Answers one request. */
export type Reply = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

/** A server on the loopback interface that gives the listed replies, one per request, then repeats the last one. */
export class ScriptedServer {
  readonly requests: ReceivedRequest[] = [];
  readonly baseURL: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #replies: Reply[];
  #arrived: () => void = () => undefined;
  /** Resolves when the first request arrives. */
  readonly firstRequest: Promise<void>;

  private constructor(server: ReturnType<typeof createServer>, replies: readonly Reply[]) {
    this.#server = server;
    this.#replies = [...replies];
    this.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.firstRequest = new Promise((resolve) => {
      this.#arrived = resolve;
    });
    server.on("request", (message, response) => void this.#answer(message, response));
  }

  static async start(replies: readonly Reply[]): Promise<ScriptedServer> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new ScriptedServer(server, replies);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "", headers, socket } = message;
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    let text = "";
    for await (const part of message.setEncoding("utf8")) text += part;
    const request = { url, headers, text, body: readBody(text), closed };
    this.requests.push(request);
    const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0];
    this.#arrived();
    await reply?.(request, response);
  }
}

function readBody(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
}

export function jsonReply(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/**
 * A stream in pieces. `end` defines what happens to the connection after the last piece; `written` is awaited after
 * each.
 */
export function streamReply(
  pieces: readonly (string | Uint8Array)[],
  end: "clean" | "cut" | "open" = "clean",
  written?: (index: number) => Promise<unknown> | undefined,
): Reply {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (const [index, piece] of pieces.entries()) {
      // Wait for the callback: pieces written in one turn of the event loop would be sent as one.
      await new Promise((resolve) => response.write(piece, resolve));
      await written?.(index);
    }
    if (end === "clean") response.end();
    if (end === "cut") setImmediate(() => response.destroy());
  };
}

/** A text in two pieces, cut inside its last word. */
export function splitReply(status: number, text: string): Reply {
  return async (_request, response) => {
    const middle = text.length - Math.floor(text.length / 4);
    response.writeHead(status);
    await new Promise((resolve) => response.write(text.slice(0, middle), resolve));
    response.end(text.slice(middle));
  };
}

/** Accepts the request and never answers. */
export const silentReply: Reply = () => undefined;

/** Breaks the connection without an answer. */
export const resetReply: Reply = (_request, response) => {
  response.socket?.resetAndDestroy();
};
