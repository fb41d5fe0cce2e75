import { invalidArgument } from "@agent/core/toolkit";
import { quote } from "@agent/internal";

/** Who may send requests, apart from `identify`. */
export interface OriginOptions {
  /**
   * The host names of your server: `"app.example.com"`, `"*.example.com"`, or `"*"` for any. Default: only `localhost`
   * and IP addresses, so that a page of another site cannot reach a server on loopback by DNS rebinding.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of other sites whose pages may send requests, such as `"https://app.example.com"`: they get the headers of CORS.
   * Also your own origin if a proxy changes the `Host` header. Default: none.
   */
  readonly origins?: readonly string[];
}

const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/;
const HOST = /^(?:\*|(?:\*\.)?[^\s/:*]+|\[[\da-f:.]+\])$/i;

/** Checks the option `allowedHosts`. Throws `invalid_argument` for an entry that no request can match. */
export function checkHosts(name: string, value: unknown): void {
  checkList(name, "host names without scheme and port, such as app.example.com", value, (host) =>
    HOST.test(host),
  );
}

/** Checks the option `origins`. Throws `invalid_argument` for an entry that no request can match. */
export function checkOrigins(name: string, value: unknown): void {
  checkList(
    name,
    "origins such as https://app.example.com",
    value,
    (origin) => URL.canParse(origin) && new URL(origin).origin === origin,
  );
}

/** Why a request is refused: it names a foreign host, or a page of another site sent it. */
export function foreignRequest(
  request: Request,
  { allowedHosts, origins = [] }: OriginOptions,
): string | undefined {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  const name = host.replace(/:\d*$/, "");
  if (allowedHosts ? !allowedHosts.some((allowed) => matches(allowed.toLowerCase(), name)) : !isLocal(name)) {
    return `This server is not known as ${quote(name)}. Add the name to allowedHosts of createChatHandlers.`;
  }
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) return undefined;
  // Browsers that send this header decide better than we can. "same-site" is another port or subdomain.
  const site = request.headers.get("sec-fetch-site");
  const isOwn =
    site === null ? origin === null || hostOf(origin) === host : /^(?:same-origin|none)$/.test(site);
  return isOwn ? undefined : "A page of another site sent this request. If it is yours, add it to origins.";
}

const TOKENS = /^[\w-]+(?: *, *[\w-]+)*$/;

/** The headers that let a page of another origin read the answer (CORS); none for other pages. */
export function corsHeaders(request: Request, { origins = [] }: OriginOptions): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origins.length === 0) return {};
  // A cache must not give the answer for one origin to another.
  if (origin === null || !origins.includes(origin)) return { vary: "Origin" };
  const wanted = request.headers.get("access-control-request-headers") ?? "";
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    ...(request.method === "OPTIONS" && {
      "access-control-allow-methods": "GET, POST",
      "access-control-max-age": "600",
      ...(TOKENS.test(wanted) && { "access-control-allow-headers": wanted }),
    }),
  };
}

/** No other site can have an IP address or `localhost` as its name. */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || IP_ADDRESS.test(name);
}

function matches(allowed: string, name: string): boolean {
  if (allowed === "*") return true;
  return allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) : name === allowed;
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function checkList(name: string, items: string, value: unknown, isValid: (entry: string) => boolean): void {
  if (!Array.isArray(value)) throw invalidArgument(name, `an array of ${items}`, value);
  const wrong = value.findIndex((entry) => typeof entry !== "string" || !isValid(entry));
  if (wrong !== -1) throw invalidArgument(`${name}[${wrong}]`, `one of ${items}`, value[wrong]);
}
