import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { PackHost } from "@agent/core";
import { type AddressKind, addressKind } from "@agent/core/sandbox";
import { errorMessage, orAborted, quote } from "@agent/core/toolkit";
import { bareHost, portOf } from "./url.js";

export interface CheckedAddress {
  readonly address: string;
  readonly family: number;
}

/**
 * Resolves the host of a URL, and resolves to its addresses if all of them may be connected to. Rejects otherwise. A
 * question to the user is awaited through `pausedDuring`, so that the time limit of the request does not run meanwhile.
 */
export type AddressGuard = (
  url: URL,
  signal: AbortSignal,
  pausedDuring: <T>(question: Promise<T>) => Promise<T>,
) => Promise<readonly CheckedAddress[]>;

export interface GuardOptions {
  /** Whether the user named the host of a URL in the configuration. */
  readonly isAllowed: (url: URL) => boolean;
  readonly permit?: PackHost["permit"] | undefined;
  /** The name of the tool, for the question. */
  readonly tool: string;
}

const PLACES: Readonly<Record<Exclude<AddressKind, "public">, string>> = {
  loopback: "this machine",
  private: "a private network",
  "link-local": "a link-local address, where clouds keep the credentials of a machine",
  metadata: "the metadata service of a cloud",
  reserved: "an address that is not public",
};

// A user can approve these. Link-local and metadata addresses must be named in the configuration.
const ASKED = new Set<AddressKind>(["loopback", "private"]);

/**
 * Returns a guard against server-side request forgery. A name is resolved once, all its addresses are checked, and the
 * connection is made to these addresses only, so that a second DNS answer cannot change the destination.
 */
export function createAddressGuard({ isAllowed, permit, tool }: GuardOptions): AddressGuard {
  return async (url, signal, pausedDuring) => {
    const addresses = await resolve(bareHost(url), signal);
    if (isAllowed(url)) return addresses;
    for (const { address } of addresses) {
      const kind = addressKind(address);
      if (kind === "public") continue;
      const host = `${url.hostname}:${portOf(url)}`;
      const where = `${quote(host)} is at ${address}: ${PLACES[kind]}`;
      const question = ASKED.has(kind)
        ? permit?.({
            source: tool,
            permission: `net.private(${host})`,
            message: `${tool} wants to connect to ${host}, which is at ${address}: ${PLACES[kind]}.`,
            signal,
          })
        : undefined;
      const answer = question && (await pausedDuring(question));
      if (answer === "allowed") continue;
      const reason = answer === "refused" ? " The user refused the connection." : "";
      throw new Error(
        `${where}. Nothing was sent.${reason} If the user wants this host to be reached, they can add it to "allow" of @agent/tools-web: allow: [${quote(host)}].`,
      );
    }
    return addresses;
  };
}

/** All addresses of a host. `dns.lookup` cannot be aborted, so an abort only stops waiting for it. */
async function resolve(host: string, signal: AbortSignal): Promise<readonly CheckedAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  signal.throwIfAborted();
  try {
    const found = await orAborted(lookup(host, { all: true, verbatim: true }), signal);
    if (found.length > 0) return found;
  } catch (error) {
    signal.throwIfAborted();
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOTFOUND" ? "there is no such name" : errorMessage(error);
    throw new Error(`Cannot resolve the host ${quote(host)}: ${reason}.`);
  }
  throw new Error(`The host ${quote(host)} has no address.`);
}
