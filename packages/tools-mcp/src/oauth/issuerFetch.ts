import { lazyConstant, quote } from "@agent/core/toolkit";
import { boundedBody, withBody } from "../boundedBody.js";
import { nodeNet } from "../nodeModules.js";

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/** Addresses of this machine and of private networks. */
const internalAddresses = lazyConstant(() => {
  const list = new nodeNet.BlockList();
  list.addSubnet("0.0.0.0", 8, "ipv4");
  list.addSubnet("10.0.0.0", 8, "ipv4");
  list.addSubnet("100.64.0.0", 10, "ipv4");
  list.addSubnet("127.0.0.0", 8, "ipv4");
  list.addSubnet("169.254.0.0", 16, "ipv4");
  list.addSubnet("172.16.0.0", 12, "ipv4");
  list.addSubnet("192.168.0.0", 16, "ipv4");
  list.addAddress("::", "ipv6");
  list.addAddress("::1", "ipv6");
  list.addSubnet("fc00::", 7, "ipv6");
  list.addSubnet("fe80::", 10, "ipv6");
  return list;
});

/**
 * `fetch` for a server's login metadata. It sends none of the headers that are meant for the server, connects only to
 * URLs that `assertLoginAddress` accepts, including after redirects, and limits the size of answers. POST requests,
 * which contain a code or a secret, are not redirected.
 */
export function issuerFetch(server: string): Fetch {
  return async (input, init) => {
    let address = new URL(input);
    for (let redirects = 0; ; redirects++) {
      assertLoginAddress(address, server);
      const response = await fetch(address, { ...init, redirect: "manual" });
      const target = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
      if (target === null) {
        return response.body === null ? response : withBody(response, boundedBody(response.body));
      }
      await response.body?.cancel();
      const isRead = init?.method === undefined || init.method === "GET";
      if (!isRead || redirects === MAX_REDIRECTS || !URL.canParse(target, address.href)) {
        throw new Error(`its login at ${quote(address.origin)} is redirected, which is not followed`);
      }
      address = new URL(target, address);
    }
  };
}

/**
 * Throws for a login URL that no honest server uses: one that is not HTTP(S), one that is neither encrypted nor on the
 * server's own host, or one inside the user's own network when the server is outside of it.
 */
export function assertLoginAddress(address: string | URL, server: string): void {
  const [wanted, own] = [new URL(address), new URL(server)];
  const isOwnHost = wanted.hostname === own.hostname;
  if (wanted.protocol !== "https:" && wanted.protocol !== "http:") {
    throw refused(wanted, "that is not an http or https address");
  }
  const mayBePlain = own.protocol === "http:" && (isOwnHost || (isInternal(wanted) && isInternal(own)));
  if (wanted.protocol === "http:" && !mayBePlain) throw refused(wanted, "that is not encrypted");
  if (!isOwnHost && isInternal(wanted) && !isInternal(own)) {
    throw refused(wanted, "that is inside your own network");
  }
}

function refused(address: URL, why: string): Error {
  return new Error(`it wants a login at ${quote(`${address.protocol}//${address.host}`)}, and ${why}`);
}

function isInternal({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (/(?:^|\.)localhost\.?$/.test(host)) return true;
  const family = nodeNet.isIP(host);
  return family !== 0 && internalAddresses().check(host, family === 4 ? "ipv4" : "ipv6");
}
