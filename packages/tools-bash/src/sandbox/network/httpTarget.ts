import type { IncomingMessage } from "node:http";
import { type Destination, parseAuthority } from "@agent/core/sandbox";

/** The target of a request to the proxy. */
export interface ProxyTarget {
  readonly destination: Destination;
  /** The value of the `Host` header to send. */
  readonly host: string;
  readonly path: string;
}

/** A request that the proxy does not understand, or that is ambiguous. */
export class UnusableRequest extends Error {}

const HTTP = 80;
const ABSOLUTE = /^http:\/\/([^/?#]*)([^#]*)$/i;
/** Hop-by-hop headers, which a proxy does not forward (RFC 9110, 7.6.1). */
const OF_CONNECTION = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/**
 * The target of a request. `tunnel` is the destination of the client's tunnel, if it opened one: then a path alone is
 * enough. Throws an `UnusableRequest` if the `Host` header names another host than the request.
 */
export function targetOf(request: IncomingMessage, tunnel: Destination | undefined): ProxyTarget {
  const url = request.url ?? "";
  const [, authority, rest = ""] = ABSOLUTE.exec(url) ?? [];
  const hosts = headerPairs(request.rawHeaders).filter(([name]) => name.toLowerCase() === "host");
  const host = hosts[0]?.[1] ?? authority;
  if (authority?.includes("@"))
    throw new UnusableRequest("an address with user information is not accepted.");
  if (hosts.length > 1) throw new UnusableRequest("there is more than one Host header.");
  if (authority === undefined && (tunnel === undefined || !url.startsWith("/"))) {
    throw new UnusableRequest(
      "a proxy takes requests for whole http:// addresses, and CONNECT for everything else.",
    );
  }
  const destination = authority === undefined ? tunnel : parseAuthority(authority, HTTP);
  const named = host === undefined ? destination : parseAuthority(host, HTTP);
  if (destination === undefined) throw new UnusableRequest("the address has no valid host.");
  for (const other of [named, tunnel ?? destination]) {
    if (other?.host !== destination.host || other.port !== destination.port) {
      throw new UnusableRequest("the Host header, the address and the tunnel must name the same host.");
    }
  }
  const path = authority === undefined ? url : rest.startsWith("/") ? rest : `/${rest}`;
  return { destination, host: hostHeader(destination), path };
}

/** The canonical name, so that the server cannot interpret the client's text as another host. */
function hostHeader({ host, port }: Destination): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === HTTP ? name : `${name}:${port}`;
}

/** The headers to forward, as a flat list of names and values. */
export function forwardedHeaders(rawHeaders: readonly string[], ...without: readonly string[]): string[] {
  const pairs = headerPairs(rawHeaders);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(",")
        .map((one) => one.trim()),
    );
  // Whatever Connection lists, these decide where the message ends.
  const ofMessage = ["content-length", "transfer-encoding"];
  const dropped = new Set([
    ...OF_CONNECTION,
    ...named.filter((name) => !ofMessage.includes(name)),
    ...without,
  ]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

/** The status line and headers of a response as they are sent. */
export function headerLines(
  { statusCode, statusMessage }: IncomingMessage,
  headers: readonly string[],
): string {
  const lines = headerPairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}

function headerPairs(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index] ?? "",
    raw[2 * index + 1] ?? "",
  ]);
}
