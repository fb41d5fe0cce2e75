import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServerFactory,
  originValidationResponse,
} from "@modelcontextprotocol/server";

const PATH = "/mcp";
const LOOPBACK = "127.0.0.1";
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface HttpOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The address to listen on. Default: loopback only. */
  readonly host?: string;
  /** The token clients must send as `Authorization: Bearer …`. Default: a random one. `false` accepts everyone. */
  readonly token?: string | false;
  /** Additional host names under which clients may reach the server. */
  readonly allowedHosts?: readonly string[];
}

export interface HttpServerHandle {
  readonly url: string;
  /** The token clients must send; absent if everyone is accepted. */
  readonly token?: string;
  close(): Promise<void>;
}

/**
 * Serves MCP on HTTP. A request must name a known host (against DNS rebinding), must not come from a foreign page, and
 * must have the token.
 */
export async function listenHttp(factory: McpServerFactory, options: HttpOptions): Promise<HttpServerHandle> {
  const { port = 0, host = LOOPBACK, allowedHosts = [] } = options;
  const token =
    options.token === false ? undefined : (options.token ?? randomBytes(24).toString("base64url"));
  const handler = createMcpHandler(factory, { maxRequestBodySize: MAX_BODY_BYTES });
  const hosts = [...localhostAllowedHostnames(), ...allowedHosts];
  const origins = [...localhostAllowedOrigins(), ...allowedHosts];
  const respond = async (request: Request): Promise<Response> => {
    const refusal =
      hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins);
    if (refusal) return refusal;
    if (new URL(request.url).pathname !== PATH) return new Response("Not found", { status: 404 });
    if (token !== undefined && !hasToken(request, token)) {
      return new Response("Unauthorized", { status: 401, headers: { "www-authenticate": "Bearer" } });
    }
    return await handler.fetch(request);
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing, respond).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${bound}${PATH}`,
    ...(token !== undefined && { token }),
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  respond: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const response = await respond(toRequest(incoming, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as never), outgoing);
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  const host = /^[\w.:[\]-]+$/.exec(headers.host ?? "")?.[0] ?? "invalid";
  const address = URL.canParse(url, `http://${host}`) ? new URL(url, `http://${host}`) : `http://${host}/`;
  return new Request(address, {
    method,
    headers: pairs,
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as never, duplex: "half" }),
  });
}

function hasToken(request: Request, token: string): boolean {
  const given = Buffer.from(request.headers.get("authorization") ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
