import { askProvider, chunk, event, json, MODES, pieces, type Reply } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { errorReply, KEY, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, failure } = await useOpenAIServer();

/** Sends `head` and then the same piece until the client disconnects. */
function endless(piece: string, head = "", contentType = "text/event-stream"): Reply {
  return (_request, response) => {
    const repeated = piece.repeat(Math.ceil(65_536 / piece.length));
    const send = (): void => {
      while (!response.destroyed) {
        if (!response.write(repeated)) {
          response.once("drain", send);
          return;
        }
      }
    };
    response.writeHead(200, { "content-type": contentType });
    response.write(head);
    send();
  };
}

const deep = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const manyCalls = (count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    id: `c${index}`,
    function: { name: "t", arguments: "{}" },
  }));

describe("a stream that never ends is aborted, and the error says why", () => {
  test.each<[string, Reply, RegExp]>([
    ["comments", endless(": still here\n\n"), /more than \d+ characters that hold no data/],
    ["empty events", endless("data:\n\n"), /more than \d+ characters that hold no data/],
    ["empty lines", endless("\n"), /more than \d+ characters that hold no data/],
    ["other fields", endless("event: ping\nid: 1\n"), /more than \d+ characters that hold no data/],
    ["one line of data", endless("x", "data: "), /an event of more than \d+ characters/],
    ["one line without a name", endless("x"), /more than \d+ characters that hold no data/],
    ["lines of data in one event", endless("data:\n"), /an event of more than \d+ characters/],
    ["one JSON object of blanks", endless(" ", "{"), /more than \d+ characters that hold no data/],
    ["events", endless("data: {}\n\n"), /more than \d+ events/],
    ["text", endless(event(chunk({ content: "x".repeat(60_000) }))), /more than \d+ characters/],
    [
      "arguments",
      endless(
        event(chunk({ tool_calls: [{ index: 0, function: { name: "t", arguments: "x".repeat(60_000) } }] })),
      ),
      /more than \d+ characters/,
    ],
    [
      "calls",
      endless(
        event(
          chunk({
            tool_calls: Array.from({ length: 500 }, () => ({ function: { name: "t", arguments: "" } })),
          }),
        ),
      ),
      /more than \d+ tool calls/,
    ],
  ])("%s", async (_name, reply, words) => {
    server.script(reply);
    const error = await failure(askProvider(provider(), "streaming"));
    expect(error).toMatchObject({ code: "provider_failed", requests: 1 });
    expect(error.message).toMatch(words);
    await server.requests.at(-1)?.closed;
  });

  test("a body of blanks", async () => {
    server.script(endless(" ", "", "application/json"));
    expect((await failure(askProvider(provider(), "JSON"))).message).toMatch(/more than \d+ bytes/);
  });
});

describe.each(MODES)(
  "an answer made to exhaust memory fails immediately, and the error says why, %s",
  (mode) => {
    const sends = (body: string): Reply =>
      mode === "JSON" ? json(body) : pieces([`data: ${body}\n\n`, "data: [DONE]\n\n"]);
    const message = mode === "JSON" ? "message" : "delta";
    const whole = (content: string): string =>
      `{"choices":[{"${message}":${content},"finish_reason":"stop"}]}`;

    test.each<[string, string, RegExp]>([
      ["a body of brackets", deep(1_000_000), /nested more than 1000 levels/],
      ["brackets that never close", "[".repeat(1_000_000), /nested more than 1000 levels/],
      ["a content of brackets", whole(`{"content":${deep(500_000)}}`), /nested more than 1000 levels/],
      [
        "arguments of objects within objects",
        whole(`{"tool_calls":[{"id":"a","function":{"name":"t","arguments":${deep(7_900)}}}]}`),
        /nested too deeply|nested more than/,
      ],
      ["an error of brackets", `{"error":${deep(7_900)}}`, /nested too deeply|nested more than/],
      [
        "a million calls",
        whole(JSON.stringify({ tool_calls: manyCalls(1_000_000) })),
        /more than (10000 tool calls|\d+ characters|\d+ bytes)/,
      ],
      [
        "a name of a megabyte",
        whole(
          JSON.stringify({
            tool_calls: [{ id: "a", function: { name: "n".repeat(1_000_000), arguments: "{}" } }],
          }),
        ),
        /a name of a tool call with 1000000 characters/,
      ],
      [
        "an id of a megabyte",
        whole(
          JSON.stringify({
            tool_calls: [{ id: "i".repeat(1_000_000), function: { name: "n", arguments: "{}" } }],
          }),
        ),
        /an id of a tool call with 1000000 characters/,
      ],
      [
        "a text of twenty megabytes",
        whole(JSON.stringify({ content: "x".repeat(20_000_000) })),
        /more than \d+ characters/,
      ],
    ])("%s", async (_name, body, words) => {
      server.script(sends(body));
      const error = await failure(askProvider(provider(), mode));
      expect(error).toMatchObject({ code: "provider_failed", requests: 1 });
      expect(error.message).toMatch(words);
      expect(error.message.length).toBeLessThan(3000);
    });

    test("passes deeply nested arguments inside a text on unchanged", async () => {
      const call = { id: "a", function: { name: "t", arguments: deep(100_000) } };
      server.script(sends(whole(JSON.stringify({ tool_calls: [call] }))));
      const { response } = await askProvider(provider(), mode);
      expect(response.toolCalls[0]?.function.arguments).toBe(deep(100_000));
    });

    test("reads a thousand calls, a hundred thousand choices and an endless count", async () => {
      const calls = JSON.stringify({ content: "x", tool_calls: manyCalls(1000) });
      const others = `,{"${message}":{"content":"other"}}`.repeat(100_000);
      const body = whole(calls).replace(
        /\]\}$/,
        `${others}],"usage":{"prompt_tokens":1e999,"completion_tokens":-1}}`,
      );
      server.script(sends(body));
      const { response } = await askProvider(provider(), mode);
      expect(response.toolCalls).toHaveLength(1000);
      expect(response.content).toBe("x");
      expect(response.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    });

    test("headers without end", async () => {
      server.script((_request, response) => {
        const { socket } = response;
        socket?.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => socket?.write(`x: ${"y".repeat(10_000)}\r\n`), 1);
        socket?.once("close", () => clearInterval(timer));
      });
      const error = await failure(askProvider(provider(), mode));
      expect(error.message).toContain("more headers than an HTTP client reads");
      expect(error.requests).toBe(1);
    });

    test.each<[string, string]>([
      ["URL-encoded", encodeURIComponent(`Bearer ${KEY}`)],
      ["in base64 with a user", Buffer.from(`user:${KEY}`).toString("base64")],
      ["JSON-escaped", JSON.stringify({ authorization: KEY })],
      ["in capitals", `AUTHORIZATION: BEARER ${KEY.toUpperCase()}`],
      ["in hex", Buffer.from(KEY).toString("hex")],
    ])("includes in no message a key that the server echoes %s", async (_name, echoed) => {
      const plain = new RegExp(
        `${KEY}|${Buffer.from(KEY).toString("hex")}|${Buffer.from(KEY.slice(2, -2)).toString("base64").slice(2, -4)}`,
        "i",
      );
      const cutInside = `${"x".repeat(38)}${KEY}`;
      for (const reply of [
        errorReply(400, echoed),
        json(echoed, 400),
        sends(`not JSON ${echoed}`),
        sends(cutInside),
      ]) {
        server.script(reply);
        const { message } = await failure(askProvider(provider({ maxRetries: 0 }), mode));
        expect(decodeURIComponent(message.replace(/%(?![\da-f]{2})/gi, "%25"))).not.toMatch(plain);
        expect(message).not.toMatch(/sk-se/i);
      }
    });

    test("includes in no message a key split between two pieces of an error's body", async () => {
      server.script((_request, response) => {
        response.writeHead(400);
        response.write(`{"error":{"message":"bad key ${KEY.slice(0, 9)}`);
        setImmediate(() => response.end(`${KEY.slice(9)}"}}`));
      });
      const { message } = await failure(askProvider(provider(), mode));
      expect(message).toContain("bad key [secret]");
    });

    test("includes in no message the password of a Basic header and a key in the address", async () => {
      const headers = { authorization: `Basic ${Buffer.from("me:pass-word-1").toString("base64")}` };
      server.script(errorReply(400, "you are pass-word-1 with query-key-22"));
      const asking = provider({ headers, baseURL: `${server.baseURL}?api-key=query-key-22` });
      expect((await failure(askProvider(asking, mode))).message).toContain("you are [secret] with [secret]");
    });
  },
);
