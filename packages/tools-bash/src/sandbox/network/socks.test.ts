import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSocksRequest, SOCKS_ANSWER, socksReply } from "./socks.js";

const GREETING = [5, 1, 0];
let server: Server;
let client: Socket;
let accepted: Socket;

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  [accepted] = (await once(server, "connection")) as [Socket];
});
afterEach(() => {
  client.destroy();
  accepted.destroy();
  server.close();
});

const name = (text: string): number[] => [3, text.length, ...Buffer.from(text, "latin1")];

/** What the proxy reads from these bytes, and what it answers. */
async function ask(...pieces: readonly (readonly number[])[]) {
  const reading = readSocksRequest(accepted);
  for (const piece of pieces) client.write(Buffer.from(piece));
  client.end();
  const found = await reading;
  accepted.end();
  const answer: Buffer[] = [];
  for await (const chunk of client) answer.push(chunk as Buffer);
  return { found, answer: [...Buffer.concat(answer)] };
}

test.each<[string, number[], string]>([
  ["a name", [...name("A.Example"), 1, 187], "a.example:443"],
  ["an address", [1, 93, 184, 215, 14, 0, 80], "93.184.215.14:80"],
  ["an address of IPv6", [4, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1, 0, 80], "2001:db8::1:80"],
])("reads a request for %s, and leaves what follows it", async (_, target, expected) => {
  const { found, answer } = await ask(GREETING, [5, 1, 0, ...target, 7, 8, 9]);
  expect(`${found?.destination.host}:${found?.destination.port}`).toBe(expected);
  expect([...(found?.rest ?? [])]).toEqual([7, 8, 9]);
  expect(answer).toEqual([5, 0]);
});

test("reads a greeting with several methods, byte by byte", async () => {
  const bytes = [5, 2, 2, 0, 5, 1, 0, ...name("a.example"), 0, 80];
  const { found } = await ask(...bytes.map((byte) => [byte]));
  expect(found?.destination).toEqual({ host: "a.example", port: 80 });
});

test.each<[string, number[][], number[]]>([
  ["needs a password", [[5, 1, 2]], [5, 0xff]],
  [
    "wants to listen",
    [GREETING, [5, 2, 0, ...name("a.example"), 0, 80]],
    [5, 0, ...socksReply(SOCKS_ANSWER.wrongCommand)],
  ],
  [
    "names port 0",
    [GREETING, [5, 1, 0, ...name("a.example"), 0, 0]],
    [5, 0, ...socksReply(SOCKS_ANSWER.wrongCommand)],
  ],
  [
    "names no host",
    [GREETING, [5, 1, 0, ...name("a b"), 0, 80]],
    [5, 0, ...socksReply(SOCKS_ANSWER.wrongCommand)],
  ],
  ["ends early", [GREETING, [5, 1, 0, 3]], [5, 0]],
  [
    "has an address of another kind, and never ends",
    [GREETING, [5, 1, 0, 9, ...Array(2000).fill(1)]],
    [5, 0],
  ],
])("refuses a client that %s", async (_, pieces, expected) => {
  const { found, answer } = await ask(...pieces);
  expect(found).toBeUndefined();
  expect(answer).toEqual(expected);
});

test("has an answer for each outcome", () => {
  expect([...socksReply(SOCKS_ANSWER.notAllowed)]).toEqual([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
});
