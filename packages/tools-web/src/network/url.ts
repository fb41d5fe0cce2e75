import { quote } from "@agent/core/toolkit";

const MAX_URL = 8192;

/**
 * Parses an address that a model or a server wrote. Only HTTP and HTTPS without credentials are accepted. The result is
 * canonical: the WHATWG parser reads `0x7f.1` and `017700000001` as 127.0.0.1 and converts IDN to Punycode, the final
 * dot of a host name is removed, and so is the fragment. Throws an `Error` for the model.
 */
export function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL)
    throw new Error(`The URL has ${text.length} characters; at most ${MAX_URL} are accepted.`);
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw new Error(`${quote(text)} is not a URL. Write a full one, such as "https://example.com/page".`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(`The URL must start with http:// or https://, got ${quote(url.protocol)}.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("The URL contains a user name or password. Credentials in URLs are not sent.");
  }
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.replace(/\.+$/, "");
  // The parser accepts "*" in a host, which would be a wildcard in a rule.
  if (!/^[a-z0-9._[\]:-]+$/.test(url.hostname)) throw new Error(`${quote(text)} has no valid host name.`);
  // The setters of a URL parse it again.
  if (url.hash !== "") url.hash = "";
  // Percent-encoding and a long base multiply the size of an address.
  if (url.href.length > MAX_URL)
    throw new Error(`The URL has ${url.href.length} characters; at most ${MAX_URL} are accepted.`);
  return url;
}

/** An address in the form of `parseUrl`; `undefined` for one that it does not accept. */
export function canonicalUrl(text: string, base?: URL): string | undefined {
  try {
    return parseUrl(text, base).href;
  } catch {
    return undefined;
  }
}

/** The host name as DNS and sockets take it: an IPv6 address without brackets. */
export function bareHost(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** The port, including the default one of the protocol. */
export function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}
