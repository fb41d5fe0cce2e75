import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

type Headers = Readonly<Record<string, string>>;

/** A request as providers send it: text to one address, without following redirects. */
interface Request {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Like `fetch` with `redirect: "manual"`, for a provider. Node loads its own `fetch` with the first call, which takes
 * longer than the whole start of this program; here that happens while the server works on its answer. Failures look
 * like those of `fetch`, with the reason as their cause.
 */
export async function nodeFetch(address: string, init: RequestInit): Promise<Response> {
  const url = new URL(address);
  const { method = "GET", body, headers, signal } = init;
  const request: Request = {
    method,
    headers: (headers ?? {}) as Headers,
    body: typeof body === "string" ? body : undefined,
    signal: signal ?? undefined,
  };
  try {
    const message = await open(url, request);
    return new Response(await bodyOf(message), {
      status: message.statusCode ?? 0,
      headers: headerPairs(message),
    });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new TypeError("fetch failed", { cause: error });
  }
}

/** Sends the request, and again if the server had closed a kept-alive connection before the request reached it. */
async function open(url: URL, request: Request): Promise<IncomingMessage> {
  const { request: send } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  const attempt = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, headers, body, signal } = request;
      const sent = send(url, { method, headers: { ...headers }, ...(signal && { signal }) }, resolve);
      sent.on("error", (error: NodeJS.ErrnoException) => {
        reject(sent.reusedSocket && error.code === "ECONNRESET" ? new StaleConnection() : error);
      });
      sent.end(body);
    });
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
    }
  }
}

class StaleConnection extends Error {}

async function bodyOf(message: IncomingMessage): Promise<ReadableStream<Uint8Array> | null> {
  if (NO_BODY.has(message.statusCode ?? 0)) {
    message.resume();
    return null;
  }
  const { Readable } = await import("node:stream");
  return Readable.toWeb(await decoded(message)) as ReadableStream<Uint8Array>;
}

/** Decompresses the body: some gateways compress an answer although the request does not accept it. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]?.toLowerCase();
  if (encoding === undefined || encoding === "identity") return message;
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const decoders = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  };
  const create = Object.entries(decoders).find(([name]) => name === encoding)?.[1];
  if (!create) return message;
  return pipeline(message, create(), () => undefined);
}

function headerPairs({ rawHeaders }: IncomingMessage): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[index * 2] ?? "",
    rawHeaders[index * 2 + 1] ?? "",
  ]);
}
