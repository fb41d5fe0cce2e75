import { lookup as resolveName } from "node:dns";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { isRecord, quote } from "@agent/internal";
import { isPublicAddress } from "../sandbox/address.js";
import {
  canonicalHost,
  type HostPattern,
  isAddress,
  matchesPattern,
  parseHostPattern,
} from "../sandbox/hostPattern.js";
import { ANY_HOST } from "./manifest.js";

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_STREAMS = 64;
/** A pack may never read a response, so only the last few failed ones are remembered. */
const MAX_CUT = 64;
/** Headers that belong to the connection, which the host owns. */
const OWN_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "accept-encoding",
]);
/** Headers that are not forwarded to another host, nor without encryption to the same one. */
const SECRET_HEADERS = new Set(["authorization", "cookie", "proxy-authorization"]);
/** As those of Node itself: an unused connection is closed after five seconds. */
const KEPT = { keepAlive: true, scheduling: "lifo", timeout: 5000 } as const;
/** A server that sends nothing for this long is considered dead. */
const SILENCE_MS = 60_000;

interface Wanted {
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
}

/** The network of one pack, whose process has none: every request and redirect is checked here. */
export class HostNetwork {
  readonly #patterns: readonly HostPattern[];
  readonly #any: boolean;
  readonly #streams = new Map<number, IncomingMessage>();
  /** Responses that ended too early, until the pack reads them. */
  readonly #cut = new Set<number>();
  /** Its own connections: an open one of another pack would be used again without checking its address. */
  readonly #connections = {
    "http:": new HttpAgent(KEPT),
    "https:": new HttpsAgent(KEPT),
  };
  #next = 1;

  constructor(hosts: readonly string[]) {
    this.#any = hosts.includes(ANY_HOST);
    this.#patterns = hosts
      .filter((host) => host !== ANY_HOST)
      .map((host) => parseHostPattern(host, "needs.hosts", '"*"'));
  }

  /** Sends a request of the pack. Rejects with an error for its author. */
  async fetch(params: unknown, body: Buffer | undefined, signal?: AbortSignal): Promise<unknown> {
    if (this.#streams.size >= MAX_STREAMS) throw new Error(`more than ${MAX_STREAMS} responses are open`);
    let wanted = readWanted(params, body);
    const redirect = isRecord(params) ? params.redirect : undefined;
    for (let hops = 0; ; hops++) {
      this.#check(wanted.url);
      const response = await this.#send(wanted, signal);
      const { statusCode: status = 0, statusMessage: statusText = "", headers } = response;
      if (REDIRECTS.has(status) && headers.location !== undefined && redirect !== "manual") {
        response.destroy();
        if (redirect === "error" || hops === MAX_REDIRECTS)
          throw new Error(`${quote(wanted.url.href)} redirects`);
        wanted = redirected(wanted, status, headers.location);
        continue;
      }
      if (signal?.aborted) {
        response.destroy();
        throw new Error("the request was aborted");
      }
      const stream = this.#next++;
      this.#streams.set(stream, response);
      response.once("close", () => this.#closed(stream, response));
      const pairs = Object.entries(headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one) => [name, one] as const),
      );
      return { status, statusText, headers: pairs, url: wanted.url.href, redirected: hops > 0, stream };
    }
  }

  /** Reads the next bytes of a response; `undefined` at its end. */
  async read(stream: unknown): Promise<Buffer | undefined> {
    if (this.#cut.delete(Number(stream)))
      throw new Error("the connection was closed before the end of the response");
    const response = this.#streams.get(Number(stream));
    if (!response) return undefined;
    for (;;) {
      const chunk: Buffer | null = response.read();
      if (chunk !== null) return chunk;
      if (response.readableEnded || response.destroyed) {
        if (response.errored) throw response.errored;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        const events = ["readable", "end", "close", "error"];
        const done = (): void => {
          for (const event of events) response.off(event, done);
          resolve();
        };
        for (const event of events) response.on(event, done);
      });
    }
  }

  end(stream: unknown): void {
    const response = this.#streams.get(Number(stream));
    this.#streams.delete(Number(stream));
    this.#cut.delete(Number(stream));
    response?.destroy();
  }

  close(): void {
    for (const stream of [...this.#streams.keys()]) this.end(stream);
    for (const agent of Object.values(this.#connections)) agent.destroy();
  }

  #closed(stream: number, response: IncomingMessage): void {
    // The pack may have closed it already.
    if (!this.#streams.delete(stream) || response.readableEnded) return;
    this.#cut.add(stream);
    const [oldest] = this.#cut;
    if (this.#cut.size > MAX_CUT && oldest !== undefined) this.#cut.delete(oldest);
  }

  #check(url: URL): void {
    const host = canonicalHost(url.hostname);
    const port = portOf(url);
    const isListed =
      host !== undefined && this.#patterns.some((pattern) => matchesPattern({ host, port }, pattern));
    if (isListed || (this.#any && host !== undefined)) return;
    throw new Error(
      `the pack may not connect to ${quote(url.host)}. It must name the host in needs.hosts, and you must approve that with agent pack update`,
    );
  }

  /**
   * An address on this machine or its network is allowed only if the pack names it and its port: an IP address or
   * `localhost`.
   */
  #mayReach(name: string, port: number, address: string): boolean {
    if (isPublicAddress(address)) return true;
    const isLiteral = isAddress(name) || name === "localhost";
    return isLiteral && this.#patterns.some((pattern) => matchesPattern({ host: name, port }, pattern));
  }

  #send({ url, method, headers, body }: Wanted, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const name = canonicalHost(url.hostname) ?? "";
    const port = portOf(url);
    if (isAddress(name) && !this.#mayReach(name, port, name)) {
      throw new Error(`${quote(url.host)} is not on the public internet`);
    }
    const lookup: LookupFunction = (hostname, options, callback) => {
      resolveName(hostname, { ...options, all: true }, (error, addresses) => {
        const allowed = (addresses ?? []).filter(({ address }) => this.#mayReach(name, port, address));
        const [first] = allowed;
        if (error || !first) {
          const refused = new Error(
            `${quote(hostname)} resolves to an address that is not on the public internet`,
          );
          callback(error ?? refused, "", 4);
        } else if (options.all) callback(null, allowed as never, 4);
        else callback(null, first.address, first.family);
      });
    };
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        method,
        lookup,
        agent: this.#connections[url.protocol as "https:"],
        ...(signal && { signal }),
        headers: { ...Object.fromEntries(headers), "accept-encoding": "identity" },
      });
      sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`${quote(url.host)} did not answer in time`)));
      sent.once("response", resolve);
      sent.once("error", reject);
      sent.end(body);
    });
  }
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

function readWanted(params: unknown, body: Buffer | undefined): Wanted {
  const { url, method, headers } = isRecord(params) ? params : {};
  if (typeof url !== "string" || !URL.canParse(url)) throw new Error("the address is not valid");
  const parsed = new URL(url);
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    throw new Error(`only http and https can be fetched, not ${parsed.protocol}`);
  }
  const pairs = (Array.isArray(headers) ? headers : []).filter(
    (pair): pair is [string, string] =>
      Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === "string"),
  );
  return {
    url: parsed,
    method: typeof method === "string" && /^[A-Z]{1,20}$/.test(method) ? method : "GET",
    headers: pairs.filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())),
    body,
  };
}

function redirected({ url, method, headers, body }: Wanted, status: number, location: string): Wanted {
  const target = new URL(location, url);
  if (target.protocol !== "https:" && target.protocol !== "http:") {
    throw new Error(`${quote(url.href)} redirects to ${target.protocol}`);
  }
  const kept =
    target.origin === url.origin
      ? headers
      : headers.filter(([name]) => !SECRET_HEADERS.has(name.toLowerCase()));
  const becomesGet = status === 303 || ((status === 301 || status === 302) && method === "POST");
  return becomesGet
    ? { url: target, method: "GET", headers: kept, body: undefined }
    : { url: target, method, headers: kept, body };
}
