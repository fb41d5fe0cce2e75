import { quote } from "@agent/core/toolkit";

const WILDCARD = "*.";
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/**
 * Returns a function that tells whether a URL is allowed. An entry is a host with or without a port, or `*.` and a domain
 * for all its subdomains. Without a port only the default ports are allowed, since other ports are other services. Throws
 * for an invalid entry.
 */
export function createAllowList(entries: readonly string[]): (url: URL) => boolean {
  const rules = entries.map(parseEntry);
  return (url) => {
    const port = url.port || DEFAULT_PORTS[url.protocol];
    return rules.some(
      (rule) =>
        (rule.below ? url.hostname.endsWith(`.${rule.host}`) : url.hostname === rule.host) &&
        (rule.port === undefined ? url.port === "" : rule.port === port),
    );
  };
}

function parseEntry(entry: string): { host: string; port: string | undefined; below: boolean } {
  const below = entry.startsWith(WILDCARD);
  const host = below ? entry.slice(WILDCARD.length) : entry;
  // Use the parser that also reads the model's URL, so that both agree on case, IDN and unusual spellings of addresses.
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (url?.pathname !== "/" || url.username !== "" || /[*/?#@\s]/.test(host)) {
    throw new Error(
      `allow: ${quote(entry)} is not a host. Write "example.com", "*.example.com" or "localhost:8080".`,
    );
  }
  const port = /:(\d+)$/.exec(host)?.[1];
  return { host: url.hostname, port: port === undefined ? undefined : String(Number(port)), below };
}
