import { createServer } from "node:net";
import {
  answer,
  askProvider,
  call,
  chunk,
  event,
  events,
  json,
  MODES,
  pieces,
  type Reply,
  reset,
} from "@agent/test-support";
import { describe, expect, test, vi } from "vitest";
import { errorReply, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, failure } = await useOpenAIServer();

const fine = answer({ content: "fine" });

describe.each(MODES)("a temporary failure, %s", (mode) => {
  const half = mode === "JSON" ? '{"choices":[{"message":{"content":"ha' : event(chunk({ content: "ha" }));
  const contentType = mode === "JSON" ? "application/json" : "text/event-stream";

  test.each<[string, Reply, string]>([
    ["status 500", errorReply(500, "oops"), "500 oops"],
    [
      "status 502 with a web page",
      json("<html>Bad gateway</html>", 502),
      "502 Bad gateway (an HTML page, not an answer of the API)",
    ],
    ["status 429", errorReply(429, "slow down"), "429 slow down"],
    ["a connection that is reset", reset, "fetch failed"],
    ["a body that is cut half-way", pieces([half], { contentType, end: "cut" }), "the connection was lost"],
    [
      "half a body that ends cleanly",
      pieces([half], { contentType }),
      mode === "JSON" ? "not JSON" : "before the answer was complete",
    ],
    [
      "an empty body",
      pieces([], { contentType }),
      mode === "JSON" ? "not JSON" : "before the answer was complete",
    ],
    [
      "an error of the server inside a body with status 200",
      json({ error: { message: "upstream died", code: 502 } }),
      "upstream died",
    ],
  ])("asks again after %s", async (_name, reply, reason) => {
    server.script(reply, fine);
    const { response, text, retries } = await askProvider(provider(), mode);
    expect(response.content).toBe("fine");
    expect(text).toBe(mode === "streaming" ? "fine" : "");
    expect(retries).toMatchObject([{ attempt: 1, reason: expect.stringContaining(reason) }]);
  });

  test.each<[string, Record<string, string>, (delayMs: number) => boolean]>([
    ["seconds", { "retry-after": "0" }, (delayMs) => delayMs === 0],
    ["milliseconds", { "retry-after-ms": "7", "retry-after": "9999" }, (delayMs) => delayMs === 7],
    [
      "a date that has passed",
      { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" },
      (delayMs) => delayMs === 0,
    ],
    [
      "an invalid value, which is ignored",
      { "retry-after": "soon", "retry-after-ms": "" },
      (delayMs) => delayMs === 1,
    ],
    ["a negative number", { "retry-after": "-5" }, (delayMs) => delayMs === 1],
    ["words with a number, which JavaScript takes for a date", { "retry-after": "soon 5" }, (ms) => ms === 1],
  ])("honours Retry-After: %s", async (_name, headers, honoured) => {
    server.script(errorReply(429, "slow down", {}, headers), fine);
    const { retries } = await askProvider(provider(), mode);
    expect(retries).toHaveLength(1);
    expect(retries.map(({ delayMs }) => delayMs)).toSatisfy((delays: number[]) => delays.every(honoured));
  });

  test.each([
    ["seconds", "61"],
    ["a date", new Date(Date.now() + 61_000 * 60).toUTCString()],
  ])(
    "fails immediately, with the reason, if the server asks for a wait above the cap (%s)",
    async (_name, wait) => {
      server.script(errorReply(429, "slow down", {}, { "retry-after": wait }), fine);
      const error = await failure(askProvider(provider(), mode));
      expect(error.message).toMatch(
        /^m could not answer: 429 slow down \(the server asks to wait \d+ s, longer than maxRetryDelayMs/,
      );
      expect(error).toMatchObject({ code: "provider_failed", requests: 1 });
    },
  );

  test("becomes an error after maxRetries if it persists, each wait longer than the last", async () => {
    server.script(...Array.from({ length: 9 }, () => errorReply(503, "down")));
    const delays: number[] = [];
    const asking = provider({ maxRetries: 4, retryDelayMs: 8 }).respond({
      messages: [],
      tools: [],
      signal: new AbortController().signal,
      onRetry: ({ delayMs }) => delays.push(delayMs),
      ...(mode === "streaming" && { onText: () => undefined }),
    });
    const error = await failure(asking);
    expect(error).toMatchObject({
      code: "provider_failed",
      message: "m could not answer: 503 down",
      requests: 5,
    });
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    expect(delays.at(-1)).toBeGreaterThanOrEqual(48);
  });

  test("is not retried if maxRetries is 0", async () => {
    server.script(errorReply(500, "oops"), fine);
    expect(await failure(askProvider(provider({ maxRetries: 0 }), mode))).toMatchObject({ requests: 1 });
  });

  test("names the cause if no server listens", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    const unreachable = provider({ baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 1 });
    expect((await failure(askProvider(unreachable, mode))).message).toMatch(/ECONNREFUSED/);
  });
});

describe.each(MODES)("a permanent failure, %s", (mode) => {
  test.each([400, 401, 403, 404, 409, 418, 422])("never repeats a request with status %i", async (status) => {
    server.script(errorReply(status, "no"), fine);
    expect(await failure(askProvider(provider(), mode))).toMatchObject({
      code: "provider_failed",
      message: expect.stringContaining(`m could not answer: ${status} no`),
      requests: 1,
    });
  });

  test.each([
    [401, "Incorrect key. Check the API key (apiKey, or OPENAI_API_KEY)."],
    [404, "Incorrect key. Check baseURL and the name of the model."],
  ])("explains what to do for status %i", async (status, message) => {
    server.script(errorReply(status, "Incorrect key."));
    expect((await failure(askProvider(provider(), mode))).message).toBe(
      `m could not answer: ${status} ${message}`,
    );
  });

  test("names a redirect that turns the request into another", async () => {
    const moved: Reply = (_request, response) => {
      response.writeHead(301, { location: "/v2/chat/completions" }).end();
    };
    server.script(moved);
    expect((await failure(askProvider(provider(), mode))).message).toMatch(
      /redirects with status 301 to "http:.*\/v2\/chat\/completions", which drops the request's body\. Set baseURL/,
    );
  });

  test.each([{ code: "insufficient_quota" }, { type: "insufficient_quota" }])(
    "includes an exhausted account: %j",
    async (more) => {
      server.script(errorReply(429, "You exceeded your current quota", more), fine);
      expect(await failure(askProvider(provider(), mode))).toMatchObject({ requests: 1 });
    },
  );

  test.each<[string, unknown, string]>([
    ["an object", { message: "no such model", code: "model_not_found" }, "no such model"],
    ["a text", "no such model", "no such model"],
    ["a status", { message: "bad", code: 400 }, "bad"],
    ["anything else", { reason: 4 }, '{"reason":4}'],
  ])("includes an error inside a body with status 200: %s", async (_name, error, message) => {
    server.script(mode === "JSON" ? json({ error }) : events(chunk({ content: "a" }), { error }), fine);
    expect(await failure(askProvider(provider(), mode))).toMatchObject({
      code: "provider_failed",
      message: `m could not answer: ${message}`,
      requests: 1,
    });
  });

  test.each<[string, unknown, string]>([
    ["message", { object: "error", message: "wrong field" }, "400 wrong field"],
    ["detail", { detail: "wrong field" }, "400 wrong field"],
    ["a list", { detail: [{ loc: ["body"], msg: "missing" }] }, '400 [{"loc":["body"],"msg":"missing"}]'],
    ["a text", { error: "wrong field" }, "400 wrong field"],
    ["an unknown object", { problem: 4 }, '400 {"problem":4}'],
    ["nothing", "", "400 (no body)"],
  ])("tells what the server said, wherever it said it: %s", async (_name, body, message) => {
    server.script(json(body, 400));
    expect((await failure(askProvider(provider(), mode))).message).toBe(`m could not answer: ${message}`);
  });

  test("has a bounded message without control characters, also if the server's never ends", async () => {
    let written = 0;
    server.script((_request, response) => {
      response.writeHead(400);
      const more = () => {
        while (!response.destroyed && response.write("\u001b[2J".repeat(4096))) written++;
        if (written < 100_000) response.once("drain", more);
      };
      more();
    });
    const { message } = await failure(askProvider(provider(), mode));
    expect(message.length).toBeLessThan(10_000);
    expect(message).toContain("\\x1b[2J");
    expect(message).not.toContain("\u001b");
  });
});

describe.each(MODES)("a conversation that is too long is context_overflow, %s", (mode) => {
  test.each<[string, Reply]>([
    ["code", errorReply(400, "Too much.", { code: "context_length_exceeded" })],
    ["OpenAI", errorReply(400, "This model's maximum context length is 8192 tokens.")],
    ["vLLM", json({ object: "error", message: "This model's maximum context length is 4096 tokens" }, 400)],
    [
      "llama.cpp",
      errorReply(400, "the request exceeds the available context size", {
        type: "exceed_context_size_error",
      }),
    ],
    ["Anthropic", errorReply(400, "prompt is too long: 210000 tokens > 200000 maximum")],
    [
      "Gemini",
      errorReply(400, "The input token count (1) exceeds the maximum number of tokens allowed (0)."),
    ],
    ["status 413", json("", 413)],
    ["inside status 200", json({ error: { message: "Input is too long for this model" } })],
  ])("%s", async (_name, reply) => {
    server.script(reply);
    expect(await failure(askProvider(provider(), mode))).toMatchObject({
      code: "context_overflow",
      requests: 1,
    });
  });

  test("is not reported for a rate limit that mentions tokens", async () => {
    server.script(errorReply(429, "too many tokens per minute"));
    expect(await failure(askProvider(provider({ maxRetries: 0 }), mode))).toMatchObject({
      code: "provider_failed",
    });
  });
});

describe("a stream", () => {
  test("is requested again if it is cut inside a tool call, and the partial call is dropped", async () => {
    const begin = event(
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "rm", arguments: '{"path":"/' } }] }),
    );
    server.script(pieces([begin], { end: "cut" }), answer({ calls: [call("b", "ls", {})] }));
    const { response, retries } = await askProvider(provider(), "streaming");
    expect(response.toolCalls).toEqual([call("b", "ls", {})]);
    expect(retries).toHaveLength(1);
  });

  test("causes an error if it is cut every time, never half an answer", async () => {
    const cut = pieces([event(chunk({ content: "half" }))], { end: "cut" });
    server.script(cut, cut, cut);
    const error = await failure(askProvider(provider({ maxRetries: 2 }), "streaming"));
    expect(error).toMatchObject({ code: "provider_failed", requests: 3 });
  });

  test("is requested again after an event that is not JSON", async () => {
    server.script(pieces(["data: {oops\n\n"]), fine);
    const { retries } = await askProvider(provider(), "streaming");
    expect(retries).toMatchObject([{ reason: 'the answer is not JSON: "{oops"' }]);
  });

  test("prints nothing, whatever the server sends", async () => {
    const printed = ["log", "error", "warn", "info", "debug"].map((name) =>
      vi.spyOn(console, name as "log").mockImplementation(() => undefined),
    );
    server.script(pieces(["data: {oops\n\n"]), errorReply(500, "x"), reset, fine);
    await askProvider(provider(), "streaming");
    expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
    for (const spy of printed) spy.mockRestore();
  });
});
