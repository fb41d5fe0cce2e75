import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Agent } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ChatHandlersOptions, createChatHandlers } from "../src/server/handlers.js";
import { SERVERS } from "./servers.js";

const [[, nodeHttp]] = SERVERS as [(typeof SERVERS)[number]];

/** Serves one conversation, and gives the port. */
async function serve(options: Partial<ChatHandlersOptions> = {}): Promise<number> {
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: () => new Agent(scriptedProvider(["Hello."])),
    ...options,
  });
  const server = await nodeHttp(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  return Number(new URL(server.url).port);
}

/** What the server answers to these bytes, up to the end of the connection. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(bytes);
  return await text(socket);
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const REQUEST_LINES: readonly (readonly [string, string, RegExp])[] = [
  ["two slashes, which would be another host", "GET // HTTP/1.1", /^HTTP\/1\.1 403/],
  ["a bracket that ends nowhere", "GET //[ HTTP/1.1", /^HTTP\/1\.1 403/],
  ["an address with a password in it", "GET http://user:word@x/chat?a=1 HTTP/1.1", /^HTTP\/1\.1 403/],
  ["an address that is none", "GET http://[ HTTP/1.1", /^HTTP\/1\.1 400/],
  ["a star", "GET * HTTP/1.1", /^HTTP\/1\.1 400/],
  ["a port that is none", "POST http://x:99999999/ HTTP/1.1", /^HTTP\/1\.1 400/],
];

describe("a request line made to break the server", () => {
  test.each(REQUEST_LINES)("%s is answered, and the next request too", async (_what, line, status) => {
    const port = await serve();
    const rest = "host: 127.0.0.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    expect(await answerTo(port, `${line}\r\n${rest}`)).toMatch(status);
    expect(await answerTo(port, `GET /chat HTTP/1.1\r\n${rest}`)).toMatch(/^HTTP\/1\.1 403/);
  });
});

test("a reader that left while the conversation was opened does not keep it open", async () => {
  const opening = withResolvers();
  const closed = withResolvers();
  const handlers = createChatHandlers({
    identify: () => "1",
    idleMs: 1,
    open: async () => {
      await opening.promise;
      return { agent: new Agent(scriptedProvider(["Hello."])), close: () => closed.resolve() };
    },
  });
  onTestFinished(() => handlers.close());
  const left = new AbortController();
  const answer = handlers.GET(new Request("http://localhost/", { signal: left.signal }));
  left.abort();
  opening.resolve();
  await answer;
  // Nobody reads the answer's body, and nobody cancels it.
  await closed.promise;
});
