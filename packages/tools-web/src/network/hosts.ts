import { quote } from "@agent/core/toolkit";
import { portOf } from "./url.js";

const WILDCARD = "*.";
const ANY_PORT = ":*";

/**
 * Returns a function that tells whether a URL is on a list of hosts. An entry is a host, or `*.` and a domain for all its
 * subdomains; then a port, or `:*` for all ports. Without a port only the default ports match, because another port is
 * another service. Throws for an entry that is not a host.
 */
export function createHostList(option: string, entries: readonly string[]): (url: URL) => boolean {
  const rules = entries.map((entry) => parseEntry(option, entry));
  return (url) =>
    rules.some(
      ({ host, below, port }) =>
        (below ? url.hostname.endsWith(`.${host}`) : url.hostname === host) &&
        (port === "*" || (port === undefined ? url.port === "" : port === portOf(url))),
    );
}

function parseEntry(
  option: string,
  entry: string,
): { readonly host: string; readonly port: string | undefined; readonly below: boolean } {
  const below = entry.startsWith(WILDCARD);
  const anyPort = entry.endsWith(ANY_PORT);
  const host = entry.slice(below ? WILDCARD.length : 0, anyPort ? -ANY_PORT.length : undefined);
  // Use the parser that also reads the model's URL, so that both agree on case, IDN and unusual notations.
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (url?.pathname !== "/" || url.username !== "" || /[*/?#@\s]/.test(host)) {
    throw new Error(
      `${option}: ${quote(entry)} is not a host. Write "example.com", "*.example.com", "localhost:8080" or "localhost:*".`,
    );
  }
  const port = anyPort ? "*" : /:(\d+)$/.exec(host)?.[1];
  return {
    host: url.hostname.replace(/\.$/, ""),
    port: port === undefined || port === "*" ? port : String(Number(port)),
    below,
  };
}
