import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable, Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { errorMessage, onAbort, quote } from "@agent/core/toolkit";
import type { AddressGuard, CheckedAddress } from "./guard.js";
import { bareHost, parseUrl, portOf } from "./url.js";

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface RequestLimits {
  /** The maximum size of a body, after decompression. */
  readonly maxBytes: number;
  /** How long the whole request may take, redirects included. */
  readonly timeoutMs: number;
}

export interface PageRequest extends RequestLimits {
  readonly url: URL;
  readonly guard: AddressGuard;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Sent with POST. Absent: GET. */
  readonly body?: string;
  /** Whether redirects within the host are followed. Default: yes. */
  readonly follow?: boolean;
}

/** Why a body is not complete. */
type Cut = "size" | "time" | "connection";

export interface PageAnswer {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly cut?: Cut;
  /** The size of the whole body, if the server announced it and did not compress it. */
  readonly totalBytes?: number;
}

/** A redirect that is not followed, because another host needs a new decision. */
export interface Redirection {
  readonly redirect: URL;
  readonly url: URL;
  readonly status: number;
}

/**
 * Requests a page. Redirects are followed within one host, also from HTTP to HTTPS; all others are returned. Each hop is
 * resolved and checked again, and the connection uses exactly the checked addresses. Proxies of the environment are not
 * used: a proxy would resolve the name itself. Rejects with an `Error` for the model.
 */
export async function requestPage(options: PageRequest): Promise<PageAnswer | Redirection> {
  const { signal, timeoutMs } = options;
  signal.throwIfAborted();
  const controller = new AbortController();
  const deadline = new Deadline(timeoutMs, () =>
    controller.abort(new Error(`No answer within ${timeoutMs} ms.`)),
  );
  const release = onAbort(signal, () => controller.abort(signal.reason));
  try {
    return await followRedirects(options, controller.signal, deadline);
  } finally {
    deadline.stop();
    release();
  }
}

/** The time limit of a request. It does not run while the user answers a question. */
class Deadline {
  readonly #expire: () => void;
  #remaining: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  isLate = false;

  constructor(ms: number, onLate: () => void) {
    this.#remaining = ms;
    this.#expire = () => {
      this.isLate = true;
      onLate();
    };
    this.#start();
  }

  readonly pausedDuring = async <T>(question: Promise<T>): Promise<T> => {
    this.stop();
    this.#remaining -= performance.now() - this.#startedAt;
    try {
      return await question;
    } finally {
      this.#start();
    }
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#remaining));
  }
}

async function followRedirects(
  options: PageRequest,
  signal: AbortSignal,
  deadline: Deadline,
): Promise<PageAnswer | Redirection> {
  const { guard, maxBytes, follow = true } = options;
  let { url } = options;
  const visited = new Set<string>();
  for (let hops = 0; ; hops++) {
    visited.add(url.href);
    const addresses = await guard(url, signal, deadline.pausedDuring);
    const response = await send(url, addresses, options, signal);
    const { statusCode: status = 0, headers } = response;
    if (!REDIRECTS.has(status) || headers.location === undefined) {
      const { body, cut } = await readBody(response, maxBytes, signal, deadline);
      const length =
        headers["content-encoding"] === undefined ? Number(headers["content-length"]) : Number.NaN;
      return {
        url,
        status,
        headers,
        body,
        ...(cut !== undefined && { cut }),
        ...(Number.isSafeInteger(length) && { totalBytes: length }),
      };
    }
    response.destroy();
    const target = redirectTarget(headers.location, url);
    if (!follow || !staysWithin(url, target)) return { redirect: target, url, status };
    if (visited.has(target.href)) throw new Error(`${quote(url.href)} redirects in a circle.`);
    if (hops === MAX_REDIRECTS)
      throw new Error(`${quote(url.href)} redirects more than ${MAX_REDIRECTS} times.`);
    url = target;
  }
}

function redirectTarget(location: string, from: URL): URL {
  try {
    // Node decodes headers as Latin-1; servers that send other characters mean UTF-8.
    return parseUrl(Buffer.from(location, "latin1").toString("utf8"), from);
  } catch (error) {
    throw new Error(
      `${quote(from.href)} redirects to an address that is not followed. ${errorMessage(error)}`,
    );
  }
}

/** Whether a redirect stays within the service that was asked for. HTTPS never becomes HTTP. */
function staysWithin(from: URL, to: URL): boolean {
  if (to.hostname !== from.hostname) return false;
  if (to.protocol === from.protocol) return portOf(to) === portOf(from);
  return from.protocol === "http:" && portOf(from) === "80" && portOf(to) === "443";
}

function send(
  url: URL,
  addresses: readonly CheckedAddress[],
  { headers, body }: PageRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const options: RequestOptions & { rejectUnauthorized: true; servername?: string } = {
    method: body === undefined ? "GET" : "POST",
    host: bareHost(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, "accept-encoding": "gzip, deflate, br", connection: "close" },
    // A new connection for each request: neither an agent with a proxy nor an open connection of another check is used.
    agent: false,
    lookup: pinned(addresses),
    // Even if NODE_TLS_REJECT_UNAUTHORIZED is 0.
    rejectUnauthorized: true,
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = isSecure ? httpsRequest(options, resolve) : httpRequest(options, resolve);
    request.on("error", (error) => {
      const failure = new Error(`Cannot fetch from ${quote(url.host)}: ${connectionProblem(error)}.`);
      reject(signal.aborted ? signal.reason : failure);
    });
    // Node reports nothing else for a server that switches protocols: neither a response nor an error.
    request.on("close", () =>
      reject(new Error(`Cannot fetch from ${quote(url.host)}: it closed the connection without an answer.`)),
    );
    request.end(body);
  });
}

/** Answers every lookup of a connection with the addresses that were checked. */
function pinned(addresses: readonly CheckedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

function connectionProblem(error: NodeJS.ErrnoException & { errors?: readonly unknown[] }): string {
  // With several addresses Node throws an AggregateError without a message.
  const [first] = error.errors ?? [];
  const message = errorMessage(error.message === "" && first !== undefined ? first : error);
  return error.code?.includes("CERT") || error.code?.includes("SSL")
    ? `the TLS connection failed: ${message}`
    : message.replace(/\.$/, "");
}

async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
  deadline: Deadline,
): Promise<{ readonly body: Buffer; readonly cut?: Cut }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut: Cut | undefined;
  try {
    const stream = await decompressed(response);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) continue;
      cut = "size";
      break;
    }
  } catch (error) {
    const { isLate } = deadline;
    if (signal.aborted && !isLate) throw error;
    if (size === 0) {
      throw isLate ? signal.reason : new Error(`The answer cannot be read: ${errorMessage(error)}.`);
    }
    // Keep what arrived: the start of a page is better than none.
    cut = isLate ? "time" : "connection";
  } finally {
    response.destroy();
  }
  const body = Buffer.concat(chunks);
  return { body: body.subarray(0, maxBytes), ...(cut !== undefined && { cut }) };
}

/** The decompressed body. Only one encoding is accepted: several could compress a bomb repeatedly. */
async function decompressed(response: IncomingMessage): Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return response;
  const decoder = await decoderFor(encoding, response);
  response.on("error", (error) => decoder.destroy(error));
  response.on("aborted", () => decoder.destroy(new Error("the connection was closed")));
  decoder.on("close", () => response.destroy());
  return response.pipe(decoder);
}

async function decoderFor(encoding: string, response: IncomingMessage): Promise<Transform> {
  // Flushing keeps what can be decoded of a body that ends too early.
  const gzip = { finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(gzip);
    case "br":
      return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case "deflate": {
      const first = await firstByte(response);
      // Servers send zlib data or raw deflate data under this name; zlib data begins with compression method 8.
      return first === undefined || (first & 0x0f) === 8 ? createInflate(gzip) : createInflateRaw(gzip);
    }
    default:
      throw new Error(`it is compressed as ${quote(encoding)}, which was not asked for`);
  }
}

/** Looks at the first byte of a body and leaves it there. */
async function firstByte(response: IncomingMessage): Promise<number | undefined> {
  for (;;) {
    const chunk = response.read() as Buffer | null;
    if (chunk !== null) {
      response.unshift(chunk);
      return chunk[0];
    }
    if (response.readableEnded || response.destroyed) return undefined;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const name of ["readable", "end", "close"]) response.off(name, done);
        resolve();
      };
      for (const name of ["readable", "end", "close"]) response.on(name, done);
    });
  }
}
