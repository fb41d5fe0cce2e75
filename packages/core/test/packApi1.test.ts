import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agent, createToolRegistry, type ToolPack } from "../src/index.js";
import { scriptedProvider } from "../src/providers/replay.js";
import { fakeContext, temporaryDirectory } from "./fixtures.js";
// @ts-expect-error Emitted code without types.
import * as http from "./packApi1/http.mjs";
// @ts-expect-error Emitted code without types.
import * as note from "./packApi1/note.mjs";

// Packs that were compiled against pack API 1 at an earlier commit. They must work unchanged.

async function serve(): Promise<string> {
  const server = createServer((request, response) => {
    const status = request.url === "/hello" ? 200 : 404;
    response.writeHead(status, { "content-type": "text/plain" }).end(`${request.url}`);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("runs a network pack of pack API 1 in an agent, with outcome, summary and approval", async () => {
  const host = await serve();
  const asked: string[] = [];
  const call = (path: string) => ({
    calls: [{ name: "http_fetch", args: { url: `http://${host}${path}` } }],
  });
  const agent = new Agent(scriptedProvider([call("/hello"), call("/missing"), "Done."]), {
    tools: [[http as ToolPack, { allow: [host] }]],
    enable: ["http_fetch"],
    approve: ({ name, description }) => {
      asked.push(`${name} ${description?.title} ${description?.kind}`);
      return "allow";
    },
  });
  const ended: unknown[] = [];
  for await (const event of agent.streamChat("Go.")) {
    if (event.type === "tool_end") ended.push([event.outcome, event.summary, event.text.split("\n").at(-1)]);
  }
  expect(ended).toEqual([
    ["ok", "HTTP 200", "/hello"],
    ["error", "HTTP 404", "/missing"],
  ]);
  expect(asked).toEqual([`http_fetch http://${host}/hello fetch`, `http_fetch http://${host}/missing fetch`]);
  await agent.dispose();
});

test("refuses a wrong option of a pack of pack API 1 as it did", () => {
  const register = (options: unknown) => createToolRegistry(fakeContext(), [[http as ToolPack, options]]);
  expect(() => register({ alow: [] })).toThrow(/Pack "example-pack-http" failed to register: .*"alow"/);
  expect(register({}).isToolEnabled("http_fetch")).toBe(false);
});

test("runs a pack that the scaffold of pack API 1 wrote", async () => {
  const root = temporaryDirectory();
  const { packName } = note as { packName: string };
  const registry = createToolRegistry(fakeContext(), [[note as ToolPack, { root }]], {
    enable: ["old_write_note"],
  });
  expect(registry.describeTools().find(({ name }) => name === "old_greet")?.source).toBe(packName);
  expect(await registry.execute("old_greet", { who: "Ada" })).toContain("Ada");
  const result = await registry.run("old_write_note", { path: join(root, "a.txt"), text: "hi" });
  expect([result.outcome, readFileSync(join(root, "a.txt"), "utf8").trim()]).toEqual(["ok", "hi"]);
  const outside = await registry.run("old_write_note", { path: "/etc/agent-note", text: "hi" });
  expect(outside.outcome).toBe("error");
});
