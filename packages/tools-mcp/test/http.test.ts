import { type McpHttpBehaviour, McpHttpServer } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import { connected } from "./harness.js";

async function serverWith(behaviour: McpHttpBehaviour = {}): Promise<McpHttpServer> {
  const fixture = await McpHttpServer.start(behaviour);
  onTestFinished(() => fixture.close());
  return fixture;
}

test("a proxy that redirects within its own origin is followed", async () => {
  const fixture = await serverWith({ redirectTo: "/real" });
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  expect((await registry.run("mcp__docs__echo", { a: 1 })).text).toBe('{"a":1}');
});

test("a redirect to a foreign origin is an error in words; the other server hears nothing, least of all a token", async () => {
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

test("an event stream that is cut is an error before the deadline of the call, and the next call works", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true, timeoutMs: 600_000 } });
  const result = await registry.run("mcp__docs__cut", {});
  expect(result.outcome).toBe("error");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("an answer of more than 64 MiB is an error, and the next call works", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  const result = await registry.run("mcp__docs__huge", {});
  expect(result.text).toContain("larger than 64 MiB");
  expect((await registry.run("mcp__docs__echo", {})).outcome).toBe("ok");
});

test("a server that is gone is an error in words, and found again when it is back", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  await registry.run("mcp__docs__echo", {});
  await fixture.close();
  expect(await registry.run("mcp__docs__echo", {})).toMatchObject({ outcome: "error" });
});

test("an abort returns without waiting for the server", async () => {
  const fixture = await serverWith();
  const registry = await connected({ docs: { url: fixture.url, enable: true } });
  await registry.run("mcp__docs__echo", {});
  const signal = AbortSignal.abort();
  expect((await registry.run("mcp__docs__echo", {}, { signal })).outcome).toBe("aborted");
});
