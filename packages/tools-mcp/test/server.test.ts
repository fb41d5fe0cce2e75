import { Conversation, createToolRegistry, defineTool, type ToolRegistry } from "@agent/core";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { type McpServerOptions, toMcpServer } from "../src/server/index.js";
import { Confirmations } from "../src/server/toMcpServer.js";

function registryWithTools(): ToolRegistry {
  const registry = createToolRegistry(new Conversation());
  registry.register(
    defineTool({
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
      capabilities: ["read"],
      execute: ({ a }: { a: number }) => `sum ${a + 1}`,
    } as never),
  );
  registry.register(
    defineTool({
      name: "wipe",
      description: "Wipes",
      input: { type: "object", properties: {} },
      capabilities: ["destroy"],
      execute: () => "wiped",
    } as never),
  );
  registry.register(
    defineTool({
      name: "count",
      description: "Counts words and writes them down",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      output: {
        type: "object",
        properties: { words: { type: "integer" }, copy: { type: "string" } },
        required: ["words"],
      },
      capabilities: ["write"],
      execute: ({ text }) => ({
        words: text.split(" ").length,
        // More than a value may hold.
        ...(text === "long" && { copy: "x".repeat(70_000) }),
      }),
    }),
  );
  registry.register(
    defineTool({ name: "off", description: "Off", input: { type: "object" }, execute: () => "" } as never),
    {
      enabled: false,
    },
  );
  onTestFinished(() => registry.dispose());
  return registry;
}

const confirmWipe: McpServerOptions = { decide: ({ name }) => (name === "wipe" ? "ask" : "allow") };

/** A client on HTTP in one of the two eras; `answer` is the answer of its user. */
async function clientOn(options: McpServerOptions, era: "legacy" | "modern", answer?: "accept" | "decline") {
  const server = await toMcpServer(registryWithTools(), options).listen();
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  if (answer) {
    client.setRequestHandler("elicitation/create", () =>
      answer === "accept" ? { action: "accept", content: { allow: true } } : { action: "decline" },
    );
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { authorization: `Bearer ${server.token}` } },
    }),
  );
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return client;
}

test.each(["legacy", "modern"] as const)("lists and runs only enabled tools (%s)", async (era) => {
  const client = await clientOn({}, era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["add", "wipe", "count"]);
  expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  expect(tools[1]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(tools[2]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(tools[2]?.outputSchema).toMatchObject({ type: "object", required: ["words"] });
  expect(await client.callTool({ name: "count", arguments: { text: "one two" } })).toMatchObject({
    structuredContent: { words: 2 },
  });
  const long = await client.callTool({ name: "count", arguments: { text: "long" } });
  expect(long).toMatchObject({ isError: true });
  expect(await client.callTool({ name: "add", arguments: { a: 1 } })).toMatchObject({
    content: [{ text: "sum 2" }],
  });
  expect(await client.callTool({ name: "off", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: "Tool not available: off" }],
  });
  const invalid = await client.callTool({ name: "add", arguments: { a: "x" } });
  expect(invalid).toMatchObject({ isError: true });
});

test("runs after approval a call that needs it (modern)", async () => {
  const client = await clientOn(confirmWipe, "modern", "accept");
  expect(await client.callTool({ name: "wipe", arguments: {} })).toMatchObject({
    content: [{ text: "wiped" }],
  });
});

test("denies a call that needs approval after a no, and if no user can be asked", async () => {
  const refused = await clientOn(confirmWipe, "modern", "decline");
  expect(await refused.callTool({ name: "wipe", arguments: {} })).toMatchObject({ isError: true });
  for (const era of ["legacy", "modern"] as const) {
    const mute = await clientOn(confirmWipe, era);
    expect(await mute.callTool({ name: "wipe", arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: "Tool call denied: no one approved it." }],
    });
  }
});

test("does not ask about a call that is denied, and informs the client why", async () => {
  const options: McpServerOptions = { decide: () => ({ deny: "not on a Monday." }) };
  const client = await clientOn(options, "modern", "accept");
  expect(await client.callTool({ name: "wipe", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: "Tool call denied: not on a Monday." }],
  });
});

test("accepts approval once, for the call it was asked for, and until it expires", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const confirmations = new Confirmations(1000);
  const call = { name: "wipe", args: { path: "a" } };
  const ask = () => {
    const asked = confirmations.check(call, undefined, undefined);
    if (typeof asked === "string") throw new Error(`No one was asked: ${asked}`);
    return asked.requestState;
  };
  const [first, second, third] = [ask(), ask(), ask()];
  const yes = { confirm: { action: "accept", content: { allow: true } } };
  expect(confirmations.check({ name: "wipe", args: { path: "b" } }, yes, first)).toBe("no");
  expect(confirmations.check(call, yes, undefined)).toBe("no");
  expect(confirmations.check(call, yes, first)).toBe("yes");
  expect(confirmations.check(call, yes, first)).toBe("no");
  // Two questions about the same call are two, and a no stays one.
  expect(confirmations.check(call, { confirm: { action: "decline" } }, second)).toBe("no");
  expect(confirmations.check(call, yes, second)).toBe("no");
  vi.setSystemTime(Date.now() + 1001);
  expect(confirmations.check(call, yes, third)).toBe("no");
});

test("asks within the call over a connection of the older era", async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const { factory } = toMcpServer(registryWithTools(), confirmWipe);
  const server = await factory({ era: "legacy" });
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { allow: true } }));
  await Promise.all([server.connect(theirs as never), client.connect(ours)]);
  onTestFinished(() => client.close());
  expect(await client.callTool({ name: "wipe", arguments: {} })).toMatchObject({
    content: [{ text: "wiped" }],
  });
});

test("requires over HTTP the token, a known host and no foreign page", async () => {
  const server = await toMcpServer(registryWithTools()).listen();
  onTestFinished(() => server.close());
  expect(new URL(server.url).hostname).toBe("127.0.0.1");
  const post = async (headers: Record<string, string>) => {
    const { request } = await import("node:http");
    return await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(server.url, { method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject).end("{}");
    });
  };
  expect(await post({})).toBe(401);
  expect(await post({ authorization: "Bearer wrong" })).toBe(401);
  const authorization = `Bearer ${server.token}`;
  expect(await post({ authorization, host: "evil.example.com" })).toBe(403);
  expect(await post({ authorization, origin: "https://evil.example.com" })).toBe(403);
  expect([400, 406, 415]).toContain(await post({ authorization }));
});
