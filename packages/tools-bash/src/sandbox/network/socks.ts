import type { Socket } from "node:net";
import { canonicalHost, type Destination } from "@agent/core/sandbox";

export const SOCKS_VERSION = 5;
const NO_AUTHENTICATION = 0;
const CONNECT = 1;
const ADDRESS_LENGTHS: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const NAME = 3;
/** The longest greeting is 257 bytes, the longest request 262. */
const MOST_BYTES = 1024;

/** Answers to a request of SOCKS 5 (RFC 1928). */
export const SOCKS_ANSWER = { granted: 0, notAllowed: 2, unreachable: 4, wrongCommand: 7 } as const;

export function socksReply(code: number): Buffer {
  return Buffer.from([SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** Reads the greeting and the request. Resolves to `undefined`, after an answer, if it cannot be served. */
export async function readSocksRequest(
  client: Socket,
): Promise<{ readonly destination: Destination; readonly rest: Buffer } | undefined> {
  const greeting = await readUntil(client, (bytes) => {
    const [, count] = bytes;
    return count === undefined ? undefined : 2 + count;
  });
  if (!greeting) return undefined;
  const acceptsNone = greeting.subarray(2).includes(NO_AUTHENTICATION);
  client.write(Buffer.from([SOCKS_VERSION, acceptsNone ? NO_AUTHENTICATION : 0xff]));
  if (!acceptsNone) return undefined;
  const request = await readUntil(client, (bytes) => {
    const [, , , type = 0, length] = bytes;
    const size = type === NAME ? (length === undefined ? undefined : 1 + length) : ADDRESS_LENGTHS[type];
    return bytes.length < 4 || size === undefined ? undefined : 4 + size + 2;
  });
  if (!request) return undefined;
  const host = canonicalHost(hostOf(request));
  const port = request.readUInt16BE(request.length - 2);
  if (request[1] !== CONNECT || host === undefined || port === 0) {
    client.write(socksReply(SOCKS_ANSWER.wrongCommand));
    return undefined;
  }
  const rest = (client.read() as Buffer | null) ?? Buffer.alloc(0);
  return { destination: { host, port }, rest };
}

function hostOf(request: Buffer): string {
  const address = request.subarray(request[3] === NAME ? 5 : 4, -2);
  if (request[3] === NAME) return address.toString("latin1");
  if (address.length === 4) return address.join(".");
  return Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16)).join(":");
}

/**
 * Reads as many bytes as `sizeOf` returns for the data so far; `undefined` if the client ends before, or sends too
 * much.
 */
async function readUntil(
  client: Socket,
  sizeOf: (bytes: Buffer) => number | undefined,
): Promise<Buffer | undefined> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const size = sizeOf(bytes);
    if (size !== undefined && bytes.length >= size) {
      if (bytes.length > size) client.unshift(bytes.subarray(size));
      return bytes.subarray(0, size);
    }
    if (bytes.length > MOST_BYTES) return undefined;
    const chunk = (client.read() as Buffer | null) ?? undefined;
    if (chunk) bytes = Buffer.concat([bytes, chunk]);
    else if (!(await isReadable(client))) return undefined;
  }
}

/** Resolves when there is something to read; to `false` at the end of the stream. */
function isReadable(client: Socket): Promise<boolean> {
  if (client.destroyed || client.readableEnded) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (is: boolean) => (): void => {
      client.off("readable", readable);
      client.off("end", ended);
      client.off("close", ended);
      resolve(is);
    };
    const readable = settle(true);
    const ended = settle(false);
    client.once("readable", readable);
    client.once("end", ended);
    client.once("close", ended);
  });
}
