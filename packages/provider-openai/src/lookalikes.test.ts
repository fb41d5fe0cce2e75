import { answer, askProvider, chunk, event, events, json, MODES, pieces } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, lastRequest } = await useOpenAIServer();

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
  ])("are asked for again if they contain %s", async (_name, body) => {
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

  test("are read with arguments in pieces, two calls interleaved", async () => {
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

  test("are read if every call has index 0 and its own id", async () => {
    expect(
      await deltas(
        { index: 0, id: "a", function: { name: "x", arguments: "{}" } },
        { index: 0, id: "b", function: { name: "x", arguments: '{"p":' } },
        { index: 0, function: { arguments: "1}" } },
      ),
    ).toEqual(["a:x({})", 'b:x({"p":1})']);
  });

  test("are read if every piece repeats the id and the name, or has a new id without a name", async () => {
    expect(
      await deltas(
        { index: 0, id: "a", function: { name: "x", arguments: "{" } },
        { index: 0, id: "a", function: { name: "x", arguments: '"p":1' } },
        { index: 0, id: "random", function: { arguments: "}" } },
      ),
    ).toEqual(['a:x({"p":1})']);
  });

  test("are read if the id and the name come after the first piece", async () => {
    expect(
      await deltas(
        { index: 0, id: null },
        { index: 0, id: "a", function: name("x") },
        { index: 0, function: { arguments: "{}" } },
      ),
    ).toEqual(["a:x({})"]);
  });

  test("are read with empty or missing deltas and choices", async () => {
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

  test("are read without the end mark", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), event(chunk({}, "stop")));
    expect(response).toMatchObject({ content: "hi", finishReason: "stop" });
  });

  test("are read if the last event has no line ending at all", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), event(chunk({}, "stop")).trimEnd());
    expect(response.content).toBe("hi");
  });

  test("are read without the reason for stopping, if the end mark comes", async () => {
    const { response } = await streamed(event(chunk({ content: "hi" })), "data: [DONE]");
    expect(response).toMatchObject({ content: "hi", finishReason: "stop" });
  });

  test.each(["\r\n", "\r", "\n"])(
    "are read with lines that end in %j, cut at every byte, with comments and no spaces",
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

  test("are read with many events in one piece, and what follows the end mark is ignored", async () => {
    const parts = [chunk({ content: "a" }), chunk({ content: "b" }), chunk({}, "stop")].map(event);
    const { response } = await streamed(
      [...parts, "data: [DONE]\n\n", event(chunk({ content: "c" })), "data: {oops\n\n"].join(""),
    );
    expect(response.content).toBe("ab");
  });

  test("are not waited for if the connection stays open after the end mark", async () => {
    const whole = [event(chunk({ content: "hi" }, "stop")), "data: [DONE]\n\n"];
    server.script(pieces(whole, { end: "open" }), pieces(whole, { end: "cut" }));
    expect((await askProvider(provider(), "streaming")).response.content).toBe("hi");
    await lastRequest().closed;
    const { response, retries } = await askProvider(provider(), "streaming");
    expect([response.content, retries]).toEqual(["hi", []]);
  });

  const whole = { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] };
  const spread = JSON.stringify(whole, undefined, 1);

  test.each([
    ["labelled as JSON", json(whole)],
    ["labelled as plain text", json(whole, 200, { "content-type": "text/plain" })],
    ["labelled as a stream", json(whole, 200, { "content-type": "text/event-stream" })],
    ["over many lines, after the empty ones that keep a connection open", pieces(["\n", "\r\n", spread])],
    ["without a reason for stopping", json({ choices: [{ message: { content: "hi" } }] })],
    ["as the message of an only event", events(whole)],
    ["in pieces, and once more as a whole at the end", events(chunk({ content: "hi" }), whole)],
  ])("are read if the answer is not streamed although it was asked for: %s", async (_name, reply) => {
    server.script(reply);
    const { response, text, retries } = await askProvider(provider(), "streaming");
    expect([response.content, text, retries]).toEqual(["hi", "hi", []]);
  });

  test("are read if they are labelled as JSON", async () => {
    const stream = [event(chunk({ content: "hi" })), event(chunk({}, "stop"))];
    server.script(pieces(stream, { contentType: "application/json" }));
    const { response, retries } = await askProvider(provider(), "streaming");
    expect([response.content, retries]).toEqual(["hi", []]);
  });

  test.each([400, 422])(
    "are requested again without stream_options if it is refused with %i, even if maxRetries is 0",
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

describe.each(MODES)("refusals, unreadable calls and errors in place of answers, %s", (mode) => {
  const reply = (message: object, finish: string | null) =>
    mode === "JSON"
      ? json({ choices: [{ message, finish_reason: finish }] })
      : events(chunk(message), chunk({}, finish));

  test("returns a refusal as the text of the model", async () => {
    server.script(reply({ content: null, refusal: "I will not do that." }, "stop"));
    const { response, text } = await askProvider(provider(), mode);
    expect(response.content).toBe("I will not do that.");
    expect(text).toBe(mode === "streaming" ? "I will not do that." : "");
  });

  test.each([
    ["an item that is not an object", { tool_calls: [null, 4, "x"] }, "tool_calls"],
    ["an object for the list", { tool_calls: {} }, "tool_calls"],
    ["the field of an older API", { function_call: { name: "x", arguments: "{}" } }, "function_call"],
  ])("repeats the request after an unreadable tool call: %s", async (_name, message, finish) => {
    server.script(reply({ content: null, ...message }, finish), answer({ content: "x" }));
    const { response, retries } = await askProvider(provider(), mode);
    expect(response.content).toBe("x");
    expect(retries).toMatchObject([{ reason: expect.stringMatching(/announces a tool call/) }]);
  });

  test.each([
    ["message", { object: "error", message: "wrong field", code: 400 }],
    ["detail", { detail: "wrong field" }],
  ])("reports the %s of an error in place of an answer", async (_name, body) => {
    server.script(mode === "JSON" ? json(body) : events(body));
    await expect(askProvider(provider(), mode)).rejects.toThrow(/^m could not answer: wrong field$/);
  });
});

test("does not accept a stream without an event as an answer", async () => {
  server.script(events());
  await expect(askProvider(provider({ maxRetries: 0 }), "streaming")).rejects.toThrow(
    /before the answer was complete/,
  );
});
