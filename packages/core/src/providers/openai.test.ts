import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { askProvider, MODES } from "../../test/askProvider.js";
import {
  answer,
  type ChatServer,
  call,
  chunk,
  event,
  events,
  json,
  pieces,
  startChatServer,
} from "../../test/chatServer.js";
import { OpenAIProvider, type OpenAIProviderOptions } from "./openai.js";

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
afterAll(() => server.close());
afterEach(() => vi.unstubAllEnvs());

function provider(options: Partial<OpenAIProviderOptions> = {}): OpenAIProvider {
  return new OpenAIProvider({
    model: "m",
    apiKey: "sk-test-key",
    baseURL: server.baseURL,
    retryDelayMs: 1,
    ...options,
  });
}

function lastRequest() {
  const request = server.requests.at(-1);
  if (!request) throw new Error("nothing was requested");
  return request;
}

describe.each(MODES)("a whole answer, %s", (mode) => {
  test("is text with its usage", async () => {
    server.script(answer({ content: "Grüße 😀" }));
    const { response, text, retries } = await askProvider(provider(), mode);
    expect(response).toEqual({
      content: "Grüße 😀",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(text).toBe(mode === "streaming" ? "Grüße 😀" : "");
    expect(retries).toEqual([]);
  });

  test("holds several tool calls in order, beside text", async () => {
    const calls = [call("a", "read_file", { path: "x" }), call("b", "list_dir", {})];
    server.script(answer({ content: "Looking.", calls }));
    const { response } = await askProvider(provider(), mode);
    expect(response).toMatchObject({ content: "Looking.", toolCalls: calls, finishReason: "tool_calls" });
  });

  test("F134: keeps calls without ids and with the same id apart", async () => {
    const nameless = { function: { name: "a", arguments: "{}" } };
    server.script(answer({ calls: [nameless, nameless, call("x", "b", {}), call("x", "c", {})] }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls.map(({ id, function: { name } }) => [id, name])).toEqual([
      ["", "a"],
      ["", "a"],
      ["x", "b"],
      ["x", "c"],
    ]);
  });

  test("takes arguments sent as an object, as null or not at all", async () => {
    const functions = [
      { name: "a", arguments: { path: "x" } },
      { name: "b", arguments: null },
      { name: "c" },
    ];
    server.script(answer({ calls: functions.map((one, index) => ({ id: `${index}`, function: one })) }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls.map((one) => one.function.arguments)).toEqual(['{"path":"x"}', "", ""]);
  });

  test("F131: hands broken arguments on as they came, for the loop to refuse", async () => {
    server.script(answer({ calls: [{ id: "a", function: { name: "t", arguments: '{"path": "x' } }] }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls[0]?.function.arguments).toBe('{"path": "x');
  });

  test.each([
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["stop", "tool_calls"],
    ["something_new", "tool_calls"],
  ])("with calls that finish with %s ends as %s", async (finish, expected) => {
    server.script(answer({ calls: [call("a", "t", {})], finish }));
    expect((await askProvider(provider(), mode)).response.finishReason).toBe(expected);
  });

  test("counts tokens a server reports wrongly as none", async () => {
    server.script(
      answer({ content: "x" }, { prompt_tokens: "many" as unknown as number, completion_tokens: -1 }),
    );
    expect((await askProvider(provider(), mode)).response.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  test("comes from the path, with the key, the headers and the extra fields given", async () => {
    const tools = [{ type: "function" as const, function: { name: "t" } }];
    const asking = provider({ headers: { "x-title": "test" }, body: { temperature: 0, seed: 7 } });
    server.script(answer({ content: "x" }));
    await askProvider(asking, mode, { tools });
    const { url, headers, body } = lastRequest();
    expect(url).toBe("/v1/chat/completions");
    expect(headers).toMatchObject({ authorization: "Bearer sk-test-key", "x-title": "test" });
    expect(body).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hello" }],
      tools,
      temperature: 0,
      seed: 7,
      stream: mode === "streaming",
      ...(mode === "streaming" && { stream_options: { include_usage: true } }),
    });
  });

  test("needs no key where there is a base URL, and then sends none", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    server.script(answer({ content: "x" }));
    await askProvider(new OpenAIProvider({ model: "m", baseURL: server.baseURL }), mode);
    expect(lastRequest().headers.authorization).toBeUndefined();
    expect(lastRequest().body.tools).toBeUndefined();
  });
});

test("the key and the base URL come from the environment if they are not given", async () => {
  vi.stubEnv("OPENAI_API_KEY", " sk-from-env\n");
  vi.stubEnv("OPENAI_BASE_URL", server.baseURL);
  server.script(answer({ content: "x" }));
  await askProvider(new OpenAIProvider({ model: "m" }), "JSON");
  expect(lastRequest().headers.authorization).toBe("Bearer sk-from-env");
});

describe("JSON answers of servers that only resemble the API", () => {
  const message = { content: "hi" };

  test.each([
    ["labelled as plain text", json({ choices: [{ message }] }, 200, { "content-type": "text/plain" })],
    [
      "after the empty lines that keep a connection open",
      pieces(["\n", "\n\n", JSON.stringify({ choices: [{ message }] })]),
    ],
    [
      "with text in parts",
      json({ choices: [{ message: { content: [{ type: "text", text: "hi" }, { type: "x" }, null] } }] }),
    ],
    [
      "with null for everything that may be absent",
      json({ choices: [{ message: { ...message, tool_calls: null } }], usage: null, error: null }),
    ],
  ])("are read %s", async (_name, reply) => {
    server.script(reply);
    expect((await askProvider(provider(), "JSON")).response).toEqual({
      content: "hi",
      toolCalls: [],
      finishReason: "stop",
    });
  });

  test.each([
    ["no choices", {}],
    ["an empty list of choices", { choices: [] }],
    ["a choice without a message", { choices: [{}] }],
    ["null", null],
    ["a number", 4],
  ])("are asked for again if they hold %s", async (_name, body) => {
    server.script(json(body), answer({ content: "x" }));
    const { response, retries } = await askProvider(provider(), "JSON");
    expect(response.content).toBe("x");
    expect(retries).toMatchObject([{ attempt: 1, reason: "the answer holds no message" }]);
  });
});

describe("streams of servers that only resemble the API", () => {
  const streamed = async (...parts: (string | Uint8Array)[]) => {
    server.script(pieces(parts));
    return await askProvider(provider({ maxRetries: 0 }), "streaming");
  };
  const name = (text: string | null) => ({ name: text });
  const deltas = async (...calls: unknown[]) => {
    const chunks = calls.map((one) => event(chunk({ tool_calls: [one] })));
    const { response } = await streamed(...chunks, event(chunk({}, "tool_calls")), "data: [DONE]\n\n");
    return response.toolCalls.map(({ id, function: { name, arguments: text } }) => `${id}:${name}(${text})`);
  };

  test("arguments come in pieces, two calls interleaved", async () => {
    expect(
      await deltas(
        { index: 0, id: "a", function: { name: "x", arguments: "" } },
        { index: 1, id: "b", function: { name: "y", arguments: "" } },
        { index: 0, function: { arguments: '{"p":' } },
        { index: 1, function: { arguments: '{"q":2' } },
        { index: 0, function: { arguments: "1}" } },
        { index: 1, function: { arguments: "}" } },
      ),
    ).toEqual(['a:x({"p":1})', 'b:y({"q":2})']);
  });

  test("calls have no index", async () => {
    expect(
      await deltas(
        { id: "a", function: { name: "x", arguments: '{"p"' } },
        { function: { arguments: ":1}" } },
        { id: "b", index: null, function: { name: "y", arguments: "{}" } },
        { function: { name: "z", arguments: "{" } },
        { function: { name: null, arguments: "}" } },
      ),
    ).toEqual(['a:x({"p":1})', "b:y({})", ":z({})"]);
  });

  test("F134: every call has index 0 and an id of its own", async () => {
    expect(
      await deltas(
        { index: 0, id: "a", function: { name: "x", arguments: "{}" } },
        { index: 0, id: "b", function: { name: "x", arguments: '{"p":' } },
        { index: 0, function: { arguments: "1}" } },
      ),
    ).toEqual(["a:x({})", 'b:x({"p":1})']);
  });

  test("every piece repeats the id and the name, or brings a new id without a name", async () => {
    expect(
      await deltas(
        { index: 0, id: "a", function: { name: "x", arguments: "{" } },
        { index: 0, id: "a", function: { name: "x", arguments: '"p":1' } },
        { index: 0, id: "random", function: { arguments: "}" } },
      ),
    ).toEqual(['a:x({"p":1})']);
  });

  test("the id and the name come after the first piece", async () => {
    expect(
      await deltas(
        { index: 0, id: null },
        { index: 0, id: "a", function: name("x") },
        { index: 0, function: { arguments: "{}" } },
      ),
    ).toEqual(["a:x({})"]);
  });

  test("deltas and choices are empty or missing", async () => {
    const odd = [
      {},
      null,
      { choices: null },
      { choices: [] },
      { choices: [{}] },
      chunk(null),
      chunk({ content: null, tool_calls: null }),
    ];
    const { response, text } = await streamed(
      ...odd.map(event),
      event(chunk({ content: "hi" })),
      event(chunk({}, "stop")),
    );
    expect([response.content, text]).toEqual(["hi", "hi"]);
  });

  test("F137: the end mark is missing", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), event(chunk({}, "stop")));
    expect(response).toMatchObject({ content: "hi", finishReason: "stop" });
  });

  test("F137: the last event has no line ending at all", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), event(chunk({}, "stop")).trimEnd());
    expect(response.content).toBe("hi");
  });

  test("the reason for stopping is missing, but the end mark comes", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), "data: [DONE]");
    expect(response).toMatchObject({ content: "hi", finishReason: "stop" });
  });

  test.each(["\r\n", "\r", "\n"])(
    "F137: lines end in %j, cut at every byte, with comments and no spaces",
    async (ending) => {
      const text = [
        "\ufeff: a comment",
        "",
        "event: message",
        `data:${JSON.stringify(chunk({ content: "größer 😀" }))}`,
        "id: 1",
        "",
        "retry: 1",
        ":",
        // One event over two lines.
        'data: {"choices":[{"delta":{"content":"!"},',
        'data: "finish_reason":"stop"}]}',
        "",
        "data: [DONE]",
        "",
        "",
      ].join(ending);
      const bytes = Buffer.from(text);
      const { response } = await streamed(...Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)));
      expect(response).toMatchObject({ content: "größer 😀!", finishReason: "stop" });
    },
  );

  test("many events come in one piece, and what follows the end mark is ignored", async () => {
    const parts = [chunk({ content: "a" }), chunk({ content: "b" }), chunk({}, "stop")].map(event);
    const { response } = await streamed(
      [...parts, "data: [DONE]\n\n", event(chunk({ content: "c" })), "data: {oops\n\n"].join(""),
    );
    expect(response.content).toBe("ab");
  });

  test("the connection stays open after the end mark: the answer is not waited for", async () => {
    const whole = [event(chunk({ content: "hi" }, "stop")), "data: [DONE]\n\n"];
    server.script(pieces(whole, { end: "open" }), pieces(whole, { end: "cut" }));
    expect((await askProvider(provider(), "streaming")).response.content).toBe("hi");
    await lastRequest().closed;
    const { response, retries } = await askProvider(provider(), "streaming");
    expect([response.content, retries]).toEqual(["hi", []]);
  });

  test("the answer is not streamed although it was asked for", async () => {
    server.script(json({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }));
    const { response, text } = await askProvider(provider(), "streaming");
    expect([response.content, text]).toEqual(["hi", "hi"]);
  });

  test.each([400, 422])(
    "stream_options is refused with %i: asked without it, also without any retries",
    async (status) => {
      const refusing = provider({ maxRetries: 0 });
      const refusal = { error: { message: "Unrecognized request argument: stream_options" } };
      server.script(json(refusal, status), answer({ content: "a" }), answer({ content: "b" }));
      const first = await askProvider(refusing, "streaming");
      expect(first).toMatchObject({ response: { content: "a" }, retries: [] });
      expect(lastRequest().body.stream_options).toBeUndefined();
      const requests = server.requests.length;
      expect((await askProvider(refusing, "streaming")).response.content).toBe("b");
      expect(server.requests.length).toBe(requests + 1);
    },
  );
});

describe("a wrong option is named", () => {
  const given: Record<string, unknown> = { model: "m", apiKey: "sk-test-key" };

  test.each([
    ["model", undefined, "model must be a non-empty string, got nothing"],
    ["model", "", "model must be a non-empty string, got an empty string"],
    ["apiKey", 42, "apiKey must be a string, got number"],
    ["apiKey", "sk-secret value", "apiKey holds a space"],
    ["apiKey", "sk-secret\nvalue", "apiKey holds a space, a line break"],
    ["baseURL", 42, "baseURL must be a string, got number 42"],
    ["baseURL", "localhost:8080", "baseURL must be an address"],
    ["baseURL", "", "baseURL must be an address"],
    ["baseURL", "https://user:sk-secret@host/v1", "baseURL must not hold a user name or a password"],
    ["headers", [], "headers must be an object, got an empty array"],
    ["headers", { "x-a": 1 }, 'headers["x-a"] must be a string, got number'],
    ["headers", { "x a": "1" }, 'headers["x a"] is not a header'],
    ["headers", { authorization: "sk-secret\nx" }, 'headers["authorization"] is not a header'],
    ["timeoutMs", 0, "timeoutMs must be a number of at least 1, got number 0"],
    ["timeoutMs", "5", 'timeoutMs must be a number of at least 1, got string "5"'],
    ["maxRetries", -1, "maxRetries must be a number of at least 0, got number -1"],
    ["maxRetries", Number.NaN, "maxRetries must be a number of at least 0, got number NaN"],
    ["maxRetryDelayMs", {}, "maxRetryDelayMs must be a number of at least 0, got object"],
    ["body", "x", 'body must be an object, got string "x"'],
    ["body", { messages: [] }, 'body must not hold "messages"'],
    ["body", { stream: true }, 'body must not hold "stream"'],
  ])("%s: %j", (option, value, message) => {
    const create = () =>
      new OpenAIProvider({ ...given, [option]: value } as unknown as OpenAIProviderOptions);
    expect(create).toThrowError(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(message) }),
    );
    expect(create).not.toThrow(/sk-secret/);
  });

  test.each([undefined, null, "gpt", 4])("options: %j", (options) => {
    expect(() => new OpenAIProvider(options as unknown as OpenAIProviderOptions)).toThrow(
      /options must be an object/,
    );
  });

  test("neither a key nor a base URL", () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    expect(() => new OpenAIProvider({ model: "m" })).toThrow(/no API key.*OPENAI_API_KEY/);
  });
});

test("events without a stream of text are no answer", async () => {
  server.script(events());
  await expect(askProvider(provider({ maxRetries: 0 }), "streaming")).rejects.toThrow(
    /before the answer was complete/,
  );
});
