import { quote } from "@agent/internal";

/** The destination of a connection. `host` is canonical: see `canonicalHost`. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

/** An entry of a list of hosts: a name, all names below one, or an address, with or without a port. */
export interface HostPattern {
  /** A canonical host; with `isBelow`, the name that the matching names end with. */
  readonly host: string;
  /** Whether the pattern began with `*.`: names below `host`, and not `host` itself. */
  readonly isBelow: boolean;
  /** If absent, 80 and 443. */
  readonly port?: number;
}

const WEB_PORTS: readonly number[] = [80, 443];
const MOST_CHARACTERS = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/;

/**
 * The canonical spelling of a host, used for comparison, display and resolution: lower case, punycode, without a final
 * dot, an address in its usual notation (`0x7f.1` is `127.0.0.1`), IPv6 without brackets. `undefined` for text that is
 * not a host.
 */
export function canonicalHost(text: string): string | undefined {
  const isBracketed = text.startsWith("[") && text.endsWith("]");
  const bare = isBracketed ? text.slice(1, -1) : text;
  if (bare.includes(":")) return canonicalAddress(bare);
  // Refuse characters that the URL parser would treat as another part of a URL, or decode.
  if (isBracketed || bare === "" || /[\s/?#@\\%[\]:*]/.test(bare)) return undefined;
  const name = hostOfUrl(bare)?.replace(/\.$/, "");
  if (name === undefined || name.length > MOST_CHARACTERS) return undefined;
  return IPV4.test(name) || name.split(".").every((label) => LABEL.test(label)) ? name : undefined;
}

function canonicalAddress(text: string): string | undefined {
  return /^[0-9a-f:.]+$/i.test(text) ? hostOfUrl(`[${text}]`)?.slice(1, -1) : undefined;
}

function hostOfUrl(host: string): string | undefined {
  try {
    return new URL(`http://${host}/`).hostname;
  } catch {
    return undefined;
  }
}

/** Whether a canonical host is an IP address. */
export function isAddress(host: string): boolean {
  return host.includes(":") || IPV4.test(host);
}

/** Parses `host`, `host:port` or `[address]:port`. `undefined` for anything else, such as text with user information. */
export function parseAuthority(text: string, defaultPort?: number): Destination | undefined {
  const [, host = "", digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  const canonical = canonicalHost(host);
  if (canonical === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: canonical, port };
}

/**
 * Parses a pattern. Throws for invalid text, with an example. `where` names the list it is in, and `all` how to allow
 * every host.
 */
export function parseHostPattern(text: string, where = "hosts", all = "network: true"): HostPattern {
  const isBelow = text.startsWith("*.");
  const [, host = "", digits] = AUTHORITY.exec(isBelow ? text.slice(2) : text) ?? [];
  const canonical = canonicalHost(host);
  const port = digits === undefined ? undefined : Number(digits);
  const isTooBroad = isBelow && (canonical === undefined || isAddress(canonical) || !canonical.includes("."));
  if (canonical === undefined || isTooBroad || port === 0 || (port ?? 0) > 65_535) {
    throw new Error(
      `${where}: ${quote(text)} is not a host. Write "example.com", "*.example.com", "example.com:8443" or an address; without a scheme or a path. To allow all hosts, use ${all}.`,
    );
  }
  return { host: canonical, isBelow, ...(port !== undefined && { port }) };
}

/** The canonical text of a pattern, which shows an address or a name in another alphabet as what it is. */
export function formatPattern({ host, isBelow, port }: HostPattern): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return `${isBelow ? "*." : ""}${shown}${port === undefined ? "" : `:${port}`}`;
}

export function matchesPattern({ host, port }: Destination, pattern: HostPattern): boolean {
  const ports = pattern.port === undefined ? WEB_PORTS : [pattern.port];
  const isHost = pattern.isBelow
    ? !isAddress(host) && host.endsWith(`.${pattern.host}`)
    : host === pattern.host;
  return isHost && ports.includes(port);
}

/** The shortest pattern that matches a destination, for adding it to the option. */
export function formatDestination({ host, port }: Destination): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return WEB_PORTS.includes(port) ? shown : `${shown}:${port}`;
}
