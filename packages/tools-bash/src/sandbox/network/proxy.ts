import * as http from "node:http";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { canonicalHost, type Destination, isAddress, parseAuthority } from "@agent/core/sandbox";
import { errorMessage } from "@agent/core/toolkit";
import { type ClientHello, readClientHello } from "./clientHello.js";
import { dial, type Outside } from "./dial.js";
import { type HostAccess, Refusal } from "./hostAccess.js";
import { forwardedHeaders, headerLines, type ProxyTarget, targetOf, UnusableRequest } from "./httpTarget.js";
import { readSocksRequest, SOCKS_ANSWER, SOCKS_VERSION, socksReply } from "./socks.js";

/** The services that the proxy of one command uses. */
export interface ProxyLimits {
  readonly connections: number;
  readonly headerBytes: number;
  /** How long a client may take to send its request. */
  readonly requestMs: number;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  readonly connectMs: number;
}

const PROXY_LIMITS: ProxyLimits = {
  connections: 256,
  headerBytes: 16 * 1024,
  requestMs: 30_000,
  idleMs: 10 * 60_000,
  connectMs: 15_000,
};

const HTTP = 80;
const HTTPS = 443;
const TLS_HANDSHAKE = 22;
/** A ClientHello with keys for post-quantum cryptography has about 2 KB. */
const HELLO_BYTES = 64 * 1024;
/** Fatal alert "unrecognized_name": the client reports that the name was the problem. */
const TLS_ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** The responses to a client before its tunnel is open. */
interface TunnelReply {
  readonly granted: string | Buffer;
  refused(message: string): string | Buffer;
  failed(message: string): string | Buffer;
}

const CONNECT_REPLY: TunnelReply = {
  granted: "HTTP/1.1 200 Connection established\r\n\r\n",
  refused: (message) => plainResponse(403, message),
  failed: (message) => plainResponse(502, message),
};
const SOCKS_REPLY: TunnelReply = {
  granted: socksReply(SOCKS_ANSWER.granted),
  refused: () => socksReply(SOCKS_ANSWER.notAllowed),
  failed: () => socksReply(SOCKS_ANSWER.unreachable),
};

/**
 * The proxy of one command: HTTP, CONNECT and SOCKS 5 on one port. Connects only where `HostAccess` allows it, and
 * forwards a TLS connection only if it names the requested host. `close` releases all its resources.
 */
export class HostProxy {
  readonly #access: HostAccess;
  readonly #outside: Outside;
  readonly #limits: ProxyLimits;
  readonly #http: http.Server;
  readonly #sockets = new Set<Duplex>();
  readonly #deadlines = new Map<Duplex, NodeJS.Timeout>();
  /** Clients that opened a tunnel to port 80: all their requests must be for that host. */
  readonly #tunnels = new WeakMap<Duplex, Destination>();
  readonly #closed = new AbortController();
  #listener: Server | undefined;

  constructor(access: HostAccess, outside: Outside, limits: ProxyLimits = PROXY_LIMITS) {
    this.#access = access;
    this.#outside = outside;
    this.#limits = limits;
    this.#http = http.createServer({ maxHeaderSize: limits.headerBytes });
    this.#http.timeout = limits.idleMs;
    this.#http.on("request", (request, response) => void this.#onRequest(request, response));
    this.#http.on("connect", (request, client, head) => void this.#onConnect(request, client, head));
    this.#http.on("upgrade", (request, client, head) => void this.#onUpgrade(request, client, head));
  }

  /** Serves the connections of a listener that is not reading from them yet. */
  serve(listener: Server): void {
    if (this.#closed.signal.aborted) return void listener.close();
    this.#listener = listener;
    listener.maxConnections = this.#limits.connections;
    listener.on("connection", (socket) => this.#accept(socket));
  }

  close(): void {
    this.#closed.abort();
    this.#access.close();
    this.#listener?.close();
    for (const timer of this.#deadlines.values()) clearTimeout(timer);
    this.#deadlines.clear();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#hold(socket);
    socket.setTimeout(this.#limits.idleMs, () => socket.destroy());
    this.#expectRequest(socket);
    const ended = (): void => endSoon(socket);
    socket.once("end", ended);
    socket.once("data", (first: Buffer) => {
      socket.off("end", ended);
      socket.pause();
      if (first[0] !== SOCKS_VERSION) return this.#speakHttp(socket, first);
      socket.unshift(first);
      void this.#onSocks(socket);
    });
  }

  /** Lets the HTTP server read from a client; `first` has already been read. */
  #speakHttp(client: Duplex, first: Buffer): void {
    client.pause();
    if (first.length > 0) client.unshift(first);
    this.#http.emit("connection", client);
    process.nextTick(() => client.resume());
  }

  /** Destroys the socket when the proxy is closed. A socket error ends only its own connection. */
  #hold(socket: Duplex): void {
    if (this.#closed.signal.aborted) socket.destroy();
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#hasRequested(socket);
    });
  }

  #expectRequest(client: Duplex): void {
    this.#hasRequested(client);
    if (client.destroyed) return;
    this.#deadlines.set(
      client,
      setTimeout(() => client.destroy(), this.#limits.requestMs),
    );
  }

  #hasRequested(client: Duplex): void {
    clearTimeout(this.#deadlines.get(client));
    this.#deadlines.delete(client);
  }

  async #dial(destination: Destination): Promise<Socket> {
    const addresses = await this.#access.addressesOf(destination);
    const { connectMs, idleMs } = this.#limits;
    const server = await dial(addresses, destination.port, {
      outside: this.#outside,
      timeoutMs: connectMs,
      signal: this.#closed.signal,
    });
    this.#hold(server);
    return server.setTimeout(idleMs, () => server.destroy());
  }

  async #onRequest(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { socket } = request;
    this.#hasRequested(socket);
    response.once("finish", () => this.#expectRequest(socket));
    try {
      const target = this.#targetOf(request);
      const forward = await this.#forward(request, target, false);
      response.once("close", () => forward.destroy());
      forward.once("response", (answer) => {
        // A server that half-closes the connection does not end the stream.
        answer.once("close", () => {
          if (!answer.complete) response.destroy();
        });
        try {
          response.writeHead(
            answer.statusCode ?? 502,
            answer.statusMessage,
            forwardedHeaders(answer.rawHeaders),
          );
          answer.pipe(response);
        } catch (error) {
          fail(error);
        }
      });
      const fail = (error: unknown): void => respond(response, 502, failureText(target.destination, error));
      forward.once("error", fail);
      forward.once("close", () => {
        if (!response.headersSent) fail(new Error("the server ended the connection"));
      });
      request.pipe(forward);
    } catch (error) {
      respond(response, statusOf(error), textOf(error));
    }
  }

  /** Handles a WebSocket upgrade. Other protocols, such as HTTP/2, could not be inspected. */
  async #onUpgrade(request: http.IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#hasRequested(client);
    try {
      if (request.headers.upgrade?.toLowerCase() !== "websocket") {
        throw new UnusableRequest("only a WebSocket can be upgraded to.");
      }
      const forward = await this.#forward(request, this.#targetOf(request), true);
      client.once("close", () => forward.destroy());
      forward.once("error", (error) => endSoon(client, plainResponse(502, errorMessage(error))));
      forward.once("response", (answer) => {
        client.write(
          headerLines(answer, [
            ...forwardedHeaders(answer.rawHeaders, "transfer-encoding"),
            "Connection",
            "close",
          ]),
        );
        answer.once("close", () => {
          if (!answer.complete) client.destroy();
        });
        answer.pipe(client);
      });
      forward.once("upgrade", (answer, server, rest) => {
        client.write(headerLines(answer, answer.rawHeaders));
        client.write(rest);
        server.write(head);
        endTogether(client, server);
        client.pipe(server);
        server.pipe(client);
      });
      forward.end();
    } catch (error) {
      endSoon(client, plainResponse(statusOf(error), textOf(error)));
    }
  }

  async #onConnect(request: http.IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#hasRequested(client);
    const destination = parseAuthority(request.url ?? "");
    if (destination === undefined || this.#tunnels.has(client)) {
      return endSoon(client, plainResponse(400, "CONNECT takes a host and a port, once."));
    }
    await this.#tunnel(client, head, destination, CONNECT_REPLY);
  }

  async #onSocks(client: Socket): Promise<void> {
    const request = await readSocksRequest(client);
    this.#hasRequested(client);
    if (request === undefined) return endSoon(client);
    await this.#tunnel(client, request.rest, request.destination, SOCKS_REPLY);
  }

  async #tunnel(client: Duplex, head: Buffer, destination: Destination, reply: TunnelReply): Promise<void> {
    try {
      if (destination.port === HTTP) {
        await this.#access.addressesOf(destination);
        client.write(reply.granted);
        this.#tunnels.set(client, destination);
        this.#expectRequest(client);
        return this.#speakHttp(client, head);
      }
      const server = await this.#dial(destination);
      if (client.destroyed) return void server.destroy();
      client.write(reply.granted);
      endTogether(client, server);
      await this.#passOn(client, head, server, destination);
    } catch (error) {
      const isRefused = error instanceof Refusal;
      const message = isRefused ? error.message : failureText(destination, error);
      endSoon(client, isRefused ? reply.refused(message) : reply.failed(message));
    }
  }

  /** Connects client and server once the first bytes of the client are acceptable. */
  async #passOn(client: Duplex, head: Buffer, server: Socket, destination: Destination): Promise<void> {
    const isSecure = destination.port === HTTPS;
    // On another port, which a pattern or the user named, the server may have to send first.
    if (!isSecure) server.pipe(client);
    else this.#expectRequest(client);
    const { bytes, hello, problem } = await readStart(client, head, isSecure);
    this.#hasRequested(client);
    const reason = problem ?? (hello && serverNameProblem(hello, destination));
    if (reason !== undefined) {
      this.#access.refuse(destination, reason);
      server.destroy();
      endSoon(client, TLS_ALERT);
      return;
    }
    server.write(bytes);
    client.pipe(server);
    if (isSecure) server.pipe(client);
  }

  #targetOf(request: http.IncomingMessage): ProxyTarget {
    return targetOf(request, this.#tunnels.get(request.socket));
  }

  /** Opens a connection to the target and starts the request on it. */
  async #forward(
    request: http.IncomingMessage,
    { destination, host, path }: ProxyTarget,
    isUpgrade: boolean,
  ): Promise<http.ClientRequest> {
    const server = await this.#dial(destination);
    if (request.socket.destroyed) server.destroy();
    const kept = isUpgrade ? ["Connection", "Upgrade", "Upgrade", "websocket"] : ["Connection", "close"];
    return http.request({
      createConnection: () => server,
      method: request.method ?? "GET",
      path,
      setHost: false,
      headers: ["Host", host, ...forwardedHeaders(request.rawHeaders, "host"), ...kept],
    });
  }
}

/** Sends the remaining data, and then closes the connection whatever the other side does. */
function endSoon(socket: Duplex, last?: string | Buffer): void {
  if (socket.writableFinished) return void socket.destroy();
  socket.once("finish", () => socket.destroy());
  if (!socket.writableEnded) socket.end(last);
}

function endTogether(client: Duplex, server: Duplex): void {
  client.once("close", () => endSoon(server));
  server.once("close", () => endSoon(client));
}

interface StreamStart {
  readonly bytes: Buffer;
  readonly hello?: ClientHello;
  /** Why the bytes must not be forwarded. */
  readonly problem?: string;
}

/** Reads until the ClientHello is complete, or until it is clear that there is none. */
function readStart(client: Duplex, head: Buffer, mustBeTls: boolean): Promise<StreamStart> {
  const buffer = Buffer.alloc(HELLO_BYTES);
  let size = 0;
  return new Promise((resolve) => {
    const settle = (start: StreamStart): void => {
      client.off("data", take);
      client.off("end", ended);
      client.off("close", ended);
      client.pause();
      resolve(start);
    };
    const take = (chunk: Buffer): void => {
      if (!mustBeTls && size === 0 && chunk[0] !== TLS_HANDSHAKE) return void settle({ bytes: chunk });
      if (size + chunk.length > HELLO_BYTES) {
        return void settle({ bytes: chunk, problem: "its ClientHello is too long." });
      }
      size += chunk.copy(buffer, size);
      const bytes = buffer.subarray(0, size);
      try {
        const hello = readClientHello(bytes);
        if (hello) settle({ bytes, hello });
      } catch (error) {
        settle({ bytes, problem: `the connection cannot be checked: ${errorMessage(error)}.` });
      }
    };
    const ended = (): void =>
      settle({ bytes: Buffer.alloc(0), problem: "it ended before its TLS handshake." });
    client.on("data", take);
    client.once("end", ended);
    client.once("close", ended);
    client.resume();
    if (head.length > 0) take(head);
  });
}

/** Why a TLS connection is not for the requested host; `undefined` if it is. */
function serverNameProblem(
  { serverName, isEncrypted }: ClientHello,
  destination: Destination,
): string | undefined {
  const { host, port } = destination;
  if (isEncrypted) return "its TLS handshake hides the host it is for (ECH). Turn that off in the client.";
  if (serverName === undefined) {
    return isAddress(host) || port !== HTTPS ? undefined : "its TLS handshake names no host (SNI).";
  }
  const named = canonicalHost(serverName);
  return named === host
    ? undefined
    : `its TLS handshake is for another host, ${named ?? "which is not valid"}.`;
}

function respond(response: http.ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "Content-Type": "text/plain", Connection: "close" });
  response.end(`${text}\n`);
}

function plainResponse(status: number, text: string): string {
  const reason = http.STATUS_CODES[status] ?? "";
  return `HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text) + 1}\r\nConnection: close\r\n\r\n${text}\n`;
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return 403;
  return error instanceof UnusableRequest ? 400 : 502;
}

function textOf(error: unknown): string {
  return `agent sandbox: ${errorMessage(error)}`;
}

function failureText({ host, port }: Destination, error: unknown): string {
  return `agent sandbox: ${host}:${port} cannot be reached: ${errorMessage(error)}`;
}
