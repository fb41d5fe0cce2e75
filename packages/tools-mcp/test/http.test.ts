import { isRecord } from "@agent/core/toolkit";
import { type McpHttpBehaviour, McpHttpServer } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import { connected, lockServers, registryOf, until } from "./harness.js";

/** Whether these are the parameters of a call of that tool. */
function isCallOf(params: unknown, tool: string): boolean {
  return isRecord(params) && params.name === tool;
}

async function serverWith(behaviour: McpHttpBehaviour = {}): Promise<McpHttpServer> {
  const fixture = await McpHttpServer.start(behaviour);
  onTestFinished(() => fixture.close());
  return fixture;
}

test("follows a proxy that redirects within its own origin", async () => {
  const fixture = await serverWith({ redirectTo: "/real" });
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  expect((await registry.run("mcp__docs__echo", { a: 1 })).text).toBe('{"a":1}');
});

test("reports a redirect to a foreign origin clearly, and sends nothing there, least of all a token", async () => {
  const foreign = await serverWith();
  const fixture = await serverWith();
  process.env.FIXTURE_HTTP_TOKEN = "token-of-the-user-0123";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the pack replaces it
  const headers = { authorization: "Bearer ${FIXTURE_HTTP_TOKEN}" };
  const registry = await connected({ docs: { url: fixture.url, headers, enable: true } });
  fixture.behaviour.redirectTo = foreign.url;
  const result = await registry.run("mcp__docs__echo", {});
  expect(result.outcome).toBe("error");
  expect(result.text).toMatch(/redirect/i);
  expect(result.text).not.toContain("token-of-the-user-0123");
  expect(foreign.seen.requests).toEqual([]);
  expect(fixture.seen.requests[0]?.headers.authorization).toBe("Bearer token-of-the-user-0123");
});

test("reports before the deadline of the call an event stream that is cut, and the next call works", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 600_000 } });
  const result = await registry.run("mcp__docs__cut", {});
  expect(result.outcome).toBe("error");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports an answer of more than 64 MiB as an error, and the next call works", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  const result = await registry.run("mcp__docs__huge", {});
  expect(result.text).toContain("larger than 64 MiB");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports with a clear error a server that is gone, and finds it again when it is back", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  await registry.run("mcp__docs__echo", {});
  const { port } = fixture;
  await fixture.close();
  for (let attempt = 0; attempt < 4; attempt++) {
    const { outcome, text } = await registry.run("mcp__docs__echo", {});
    expect(outcome).toBe("error");
    expect(text).toContain('MCP server "docs"');
    expect(text).not.toContain("not started again");
  }
  const back = await McpHttpServer.start({}, port);
  onTestFinished(() => back.close());
  expect(await registry.run("mcp__docs__echo", { a: 1 })).toMatchObject({ outcome: "ok", text: '{"a":1}' });
});

test("reports before the deadline of the call a server that stops in the middle of a call", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 600_000 } });
  const running = registry.run("mcp__docs__hangs", {});
  await until(() => fixture.seen.requests.some(({ params }) => isCallOf(params, "hangs")));
  await fixture.close();
  expect((await running).outcome).toBe("error");
});

test("uses the first of two answers, and the next call works", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  expect((await registry.run("mcp__docs__twice", {})).text).toBe("first");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports before the deadline of the call an answer to a request that was never sent", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 600_000 } });
  const { outcome, text } = await registry.run("mcp__docs__wrong_id", {});
  expect(outcome).toBe("error");
  expect(text).toContain("987654");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("ends at the deadline of the call an answer that only drips", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 3000 } });
  expect((await registry.run("mcp__docs__drips", {})).text).toContain("no answer within 3000 ms");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("reports a page in place of an answer with a clear error", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 600_000 } });
  const { outcome, text } = await registry.run("mcp__docs__page", {});
  expect(outcome).toBe("error");
  expect(text).toContain("text/html");
});

test("ignores an answer after the cancellation", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  await registry.run("mcp__docs__echo", {});
  const controller = new AbortController();
  const running = registry.run("mcp__docs__hangs", {}, { signal: controller.signal });
  await until(() => fixture.seen.requests.some(({ params }) => isCallOf(params, "hangs")));
  controller.abort();
  expect((await running).outcome).toBe("aborted");
  await until(() => fixture.seen.requests.some(({ method }) => method === "notifications/cancelled"));
  expect((await registry.run("mcp__docs__echo", { b: 2 })).text).toBe('{"b":2}');
});

test("does not show a token that the server sends back in an error", async () => {
  const fixture = await serverWith();
  process.env.FIXTURE_HTTP_TOKEN = "token-of-the-user-0123";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the pack replaces it
  const headers = { authorization: "Bearer ${FIXTURE_HTTP_TOKEN}" };
  const registry = await connected({ docs: { url: fixture.url, headers, enable: true } });
  const { text } = await registry.run("mcp__docs__fails", {});
  expect(text).toContain("it went wrong for Bearer [secret]");
});

test("sets aside malformed tools with their reason, and uses the others", async () => {
  const tools = [
    { name: "echo", inputSchema: { type: "object", properties: { a: { $ref: "#/properties/a" } } } },
    { name: "read_file", description: "safe\u202edelete", inputSchema: { type: "object" } },
    { name: "list", inputSchema: [] },
    { name: "large", description: "x".repeat(2_000_000), inputSchema: { type: "object" } },
  ];
  const fixture = await serverWith({ tools });
  const { directory, locked } = await lockServers({ docs: { url: fixture.url, enable: true } });
  expect(locked.docs?.setAside.map(({ tool }) => tool)).toEqual(["list", "large"]);
  const registry = registryOf({ docs: { url: fixture.url, enable: true } }, { directory });
  expect((await registry.run("mcp__docs__echo", { b: 1 })).text).toBe('{"b":1}');
  expect(registry.getEnabledSchemas().at(-1)?.function).toMatchObject({
    name: "mcp__docs__read_file",
    description: "safe\\u202edelete",
  });
});

test("keeps a thousand of a hundred thousand tools", async () => {
  const fixture = await serverWith({ many: 100_000 });
  const { locked } = await lockServers({ docs: { url: fixture.url } });
  expect(locked.docs?.tools.length).toBe(1000);
  expect(locked.docs?.setAside.at(-1)?.tool).toBe("99000 more");
});

test("answers with the other servers while three of ten hang", async () => {
  const fixtures = await Promise.all(Array.from({ length: 10 }, () => serverWith()));
  const servers = Object.fromEntries(
    fixtures.map(({ url }, n) => [`server${n}`, { url, enable: true as const }]),
  );
  const registry = await connected(servers);
  const names = Object.keys(servers).map((name) => `mcp__${name}__echo`);
  for (const fixture of fixtures.slice(7)) fixture.behaviour.silent = true;
  const stuck = names.slice(7).map((name) => registry.run(name, {}));
  const results = await Promise.all(names.slice(0, 7).map((name) => registry.run(name, {})));
  expect(results.map(({ outcome }) => outcome)).toEqual(Array(7).fill("ok"));
  for (const { text } of await Promise.all(stuck)) expect(text).toContain("did not start within 15000 ms");
}, 60_000);

test("returns on an abort without waiting for the server", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  await registry.run("mcp__docs__echo", {});
  const signal = AbortSignal.abort();
  expect((await registry.run("mcp__docs__echo", {}, { signal })).outcome).toBe("aborted");
});
