import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Agent, type ChatProvider, defineTool } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { warningsDuring } from "@agent/test-support";
import fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ChatHandlersOptions, createChatHandlers } from "../src/server/handlers.js";
import { toNodeListener } from "../src/server/node.js";
import { Page } from "./page.js";
import { SERVERS, type StartServer } from "./servers.js";

const [[, nodeHttp]] = SERVERS as [(typeof SERVERS)[number]];

/** Serves conversations, and returns the URL of one. */
async function serveOn(
  startServer: StartServer,
  options: Partial<ChatHandlersOptions> = {},
): Promise<string> {
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: () => new Agent(scriptedProvider(["Hello."])),
    ...options,
  });
  const server = await startServer(handlers);
  onTestFinished(async () => {
    await handlers.close();
    await server.stop();
  });
  return `${server.url}?session=1`;
}

/** Like `serveOn` with Node's own server; returns only the port. */
async function serve(options: Partial<ChatHandlersOptions> = {}): Promise<number> {
  return Number(new URL(await serveOn(nodeHttp, options)).port);
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
  ["an invalid address", "GET http://[ HTTP/1.1", /^HTTP\/1\.1 400/],
  ["a star", "GET * HTTP/1.1", /^HTTP\/1\.1 400/],
  ["an invalid port", "POST http://x:99999999/ HTTP/1.1", /^HTTP\/1\.1 400/],
];

describe("a request line made to break the server", () => {
  test.each(REQUEST_LINES)("is answered, and the next request too: %s", async (_what, line, status) => {
    const port = await serve();
    const rest = "host: 127.0.0.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    expect(await answerTo(port, `${line}\r\n${rest}`)).toMatch(status);
    expect(await answerTo(port, `GET /chat HTTP/1.1\r\n${rest}`)).toMatch(/^HTTP\/1\.1 403/);
  });
});

test("does not keep a conversation open for a reader that disconnects while it is opened", async () => {
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
  // The test neither reads nor cancels the body of the response.
  await closed.promise;
});

const JSON_TYPE = { "content-type": "application/json" };

function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: "POST", headers: JSON_TYPE, body });
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

const BODIES: readonly (readonly [string, string])[] = [
  ["a part that is null", '{"type":"send","content":[null]}'],
  ["a part of an unknown type", '{"type":"send","content":[{"type":"__proto__"}]}'],
  ["a text that is a number", '{"type":"send","content":[{"type":"text","text":5}]}'],
  ["a text that is nested", `{"type":"send","content":[{"type":"text","text":${nested(40_000)}}]}`],
  ["parts that are nested", `{"type":"send","content":${nested(40_000)}}`],
  ["nothing but nesting", nested(40_000)],
];

describe.each(SERVERS)("a body made to break the conversation, on %s", (_name, startServer) => {
  test.each(BODIES)("is refused, and the conversation is as before: %s", async (_what, body) => {
    const url = await serveOn(startServer);
    const answer = await post(url, body);
    expect(answer.status).toBe(400);
    const page = await Page.open(url);
    onTestFinished(() => page.close());
    await page.until(({ status }) => status === "idle");
    expect(page.state.messages).toEqual([]);
  });

  test("is stored without an unknown field of a part", async () => {
    const url = await serveOn(startServer);
    const part = `{"type":"text","text":"Hi.","more":${nested(1000)}}`;
    expect((await post(url, `{"type":"send","content":[${part}]}`)).status).toBe(202);
    const page = await Page.open(url);
    onTestFinished(() => page.close());
    await page.until(({ status, messages }) => status === "idle" && messages.length === 2);
    expect(page.state.messages[0]).toHaveProperty("content", [{ type: "text", text: "Hi." }]);
  });

  test("is refused with a message if it is too large, and the next request is answered", async () => {
    const url = await serveOn(startServer, { maxBodyBytes: 1000 });
    const answer = await post(url, JSON.stringify({ type: "send", content: "x".repeat(50_000) }));
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { error: "The body is larger than 1000 bytes." },
    ]);
    expect((await post(url, '{"type":"stop"}')).status).toBe(202);
  });
});

test.each([null, "", 7, {}])("refuses a request for which identify() returns %j", async (id) => {
  const port = await serve({ identify: () => id as string });
  expect((await post(`http://127.0.0.1:${port}/`, '{"type":"stop"}')).status).toBe(403);
});

test("opens no conversation for an invalid request", async () => {
  let opened = 0;
  const port = await serve({
    open: () => {
      opened++;
      return new Agent(scriptedProvider([]));
    },
  });
  const url = `http://127.0.0.1:${port}/?session=1`;
  expect((await fetch(url, { method: "POST", body: "type=stop" })).status).toBe(415);
  expect((await post(url, "{")).status).toBe(400);
  expect(opened).toBe(0);
});

test("counts unfinished bodies against the limit of their own conversation, and frees it when they end", async () => {
  const port = await serve();
  const url = (session: string): string => `http://127.0.0.1:${port}/?session=${session}`;
  const head = `POST /?session=1 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
  const slow = Array.from({ length: 8 }, () => connect(port, "127.0.0.1"));
  for (const socket of slow) {
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined).write(`${head}content-length: 1000\r\nexpect: 100-continue\r\n\r\n`);
    // Wait for "100 Continue": the server then reads the body.
    await once(socket, "data");
  }
  const refused = await post(url("1"), '{"type":"stop"}');
  expect([refused.status, await refused.json()]).toEqual([
    429,
    { error: "This conversation has 8 requests open. Close one first." },
  ]);
  expect((await post(url("2"), '{"type":"stop"}')).status).toBe(202);
  slow[0]?.destroy();
  await expect.poll(async () => (await post(url("1"), '{"type":"stop"}')).status).toBe(202);
});

test("serves at most a hundred pages of one conversation at the same time", async () => {
  const handlers = createChatHandlers({ identify: () => "1", open: () => new Agent(scriptedProvider([])) });
  onTestFinished(() => handlers.close());
  const follow = (): Promise<Response> => handlers.GET(new Request("http://localhost/"));
  const pages = await Promise.all(Array.from({ length: 100 }, follow));
  expect((await follow()).status).toBe(429);
  await pages[0]?.body?.cancel();
  expect((await follow()).status).toBe(200);
});

test("does not answer the next question, whose call has the same id, with a decision that is sent twice", async () => {
  const ran: string[] = [];
  const note = defineTool({
    name: "note",
    description: "Notes a word.",
    input: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    execute: ({ word }) => {
      ran.push(String(word));
      return "Noted.";
    },
  });
  const call = (word: string) => ({ calls: [{ name: "note", args: { word } }] });
  const script = scriptedProvider([call("harmless"), call("harmful"), "Done."]);
  const model: ChatProvider = {
    model: "a server that uses one id for all calls",
    async respond(request) {
      const { toolCalls, ...answer } = await script.respond(request);
      return { ...answer, toolCalls: toolCalls.map((one) => ({ ...one, id: "call_1" })) };
    },
  };
  const url = await serveOn(nodeHttp, {
    open: (_id, { approve }) => {
      const agent = new Agent(model, { approve });
      agent.addTool(note);
      return agent;
    },
  });
  const page = await Page.open(url);
  onTestFinished(() => page.close());
  await page.post({ type: "send", content: "Go." });
  await page.until(({ approvals }) => approvals[0]?.args.word === "harmless");
  const decision = { type: "decide", id: page.state.approvals[0]?.id ?? "", decision: "allow" } as const;
  expect((await page.post(decision)).status).toBe(202);
  await page.until(({ approvals }) => approvals[0]?.args.word === "harmful");
  expect((await page.post(decision)).status).toBe(409);
  expect(ran).toEqual(["harmless"]);
});

test("does not store a field __proto__", async () => {
  const url = await serveOn(nodeHttp);
  const part = '{"type":"text","text":"Hi.","__proto__":{"name":"x"}}';
  expect((await post(url, `{"type":"send","content":[${part}]}`)).status).toBe(202);
  const page = await Page.open(url);
  onTestFinished(() => page.close());
  await page.until(({ status, messages }) => status === "idle" && messages.length === 2);
  expect(page.state.messages[0]).toHaveProperty("content", [{ type: "text", text: "Hi." }]);
});

test("passes on every cookie that a response sets", async () => {
  const headers = [
    ["set-cookie", "one=1"],
    ["set-cookie", "two=2"],
  ] as [string, string][];
  const handlers = createChatHandlers({
    identify: () => undefined,
    open: () => new Agent(scriptedProvider([])),
  });
  const answer = async (): Promise<Response> => new Response("ok", { headers });
  const server = await nodeHttp({ ...handlers, GET: answer });
  onTestFinished(() => server.stop());
  const response = await fetch(server.url);
  expect(response.headers.getSetCookie()).toEqual(["one=1", "two=2"]);
});

test("answers 500 when a handler throws, or when a framework keeps the body to itself", async () => {
  const fail = (): never => {
    throw new Error("broken on purpose");
  };
  const failing = toNodeListener({ GET: fail, POST: fail, OPTIONS: fail });
  const app = fastify();
  onTestFinished(() => app.close());
  app.all("/failing", failing);
  app.post("/raw", async (request, reply) => {
    reply.hijack();
    await failing(request.raw, reply.raw);
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const warnings = await warningsDuring(async () => {
    expect((await fetch(`${url}/failing`)).status).toBe(500);
    expect((await post(`${url}/raw`, '{"type":"stop"}')).status).toBe(500);
  });
  expect(warnings.map(({ message }) => message)).toEqual([
    "broken on purpose",
    expect.stringContaining("pass the framework's own request"),
  ]);
});

describe("a request from elsewhere", () => {
  const ACTION = '{"type":"send","content":"Hi"}';
  /** The status and the body of the answer to a POST with these headers. */
  const statusOf = async (
    startServer: StartServer,
    headers: Readonly<Record<string, string>>,
    options: Partial<ChatHandlersOptions> = {},
  ): Promise<string> => {
    const { port, pathname, search } = new URL(await serveOn(startServer, options));
    const lines = Object.entries({
      host: `127.0.0.1:${port}`,
      "content-type": "application/json",
      "content-length": String(ACTION.length),
      connection: "close",
      ...headers,
    }).map(([name, value]) => `${name}: ${value.replace("PORT", port)}\r\n`);
    const head = `POST ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`;
    return await answerTo(Number(port), `${head}${ACTION}`);
  };

  describe.each(SERVERS)("on %s", (_name, startServer) => {
    test.each([
      [{ host: "evil.example:PORT" }, "is not known as"],
      [{ host: "localhost.evil.example" }, "is not known as"],
      [{ host: "127.0.0.1.evil.example" }, "is not known as"],
      [{ origin: "https://evil.example" }, "page of another site"],
      [{ origin: "http://127.0.0.1:1" }, "page of another site"],
      [{ origin: "null" }, "page of another site"],
      [{ "sec-fetch-site": "cross-site" }, "page of another site"],
      [{ "sec-fetch-site": "same-site" }, "page of another site"],
    ])("refuses %j", async (headers, message) => {
      const answer = await statusOf(startServer, headers as Record<string, string>);
      expect(answer).toMatch(/^HTTP\/1\.1 403/);
      expect(answer).toContain(message);
    });

    test.each([
      [{ host: "localhost:PORT", origin: "http://localhost:PORT" }],
      [{ host: "app.localhost", "sec-fetch-site": "same-origin" }],
      [{ host: "[::1]:PORT", "sec-fetch-site": "none" }],
      [{ host: "192.168.1.5:PORT", origin: "http://192.168.1.5:PORT" }],
    ])("answers %j", async (headers) => {
      expect(await statusOf(startServer, headers as Record<string, string>)).toMatch(/^HTTP\/1\.1 202/);
    });
  });

  test.each([
    [{ allowedHosts: ["app.example.com"] }, { host: "App.Example.com:8443" }, 202],
    [{ allowedHosts: ["*.example.com"] }, { host: "a.example.com" }, 202],
    [{ allowedHosts: ["*.example.com"] }, { host: "badexample.com" }, 403],
    [{ allowedHosts: ["app.example.com"] }, { host: "localhost" }, 403],
    [{ allowedHosts: ["*"] }, { host: "anything" }, 202],
    [
      { origins: ["https://app.example.com"] },
      { origin: "https://app.example.com", "sec-fetch-site": "cross-site" },
      202,
    ],
    [{ origins: ["https://app.example.com"] }, { origin: "https://app.example.com.evil" }, 403],
  ])("with %j, %j is answered with %d", async (options, headers, status) => {
    const answer = await statusOf(nodeHttp, headers as unknown as Record<string, string>, options);
    expect(answer).toContain(`HTTP/1.1 ${status}`);
  });

  test.each([
    [{ allowedHosts: ["https://app.example.com"] }, /allowedHosts\[0\] must be one of host names/],
    [{ allowedHosts: ["app.example.com:80"] }, /allowedHosts\[0\]/],
    [{ origins: ["app.example.com"] }, /origins\[0\] must be one of origins/],
    [{ origins: ["https://app.example.com/"] }, /origins\[0\]/],
  ])("explains what is wrong with %j", (options, message) => {
    const create = () =>
      createChatHandlers({ identify: () => "1", open: () => new Agent(scriptedProvider([])), ...options });
    expect(create).toThrow(message);
  });
});
