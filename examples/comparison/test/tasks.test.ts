import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import * as agentFiles from "../src/files/agent.js";
import * as aiSdkFiles from "../src/files/aiSdk.js";
import * as agentHttp from "../src/http/agent.js";
import * as aiSdkHttp from "../src/http/aiSdk.js";
import * as agentMcp from "../src/mcp/agent.js";
import * as aiSdkMcp from "../src/mcp/aiSdk.js";
import * as agentTyped from "../src/typed/agent.js";
import * as aiSdkTyped from "../src/typed/aiSdk.js";
import { startModelServer } from "./modelServer.js";

const TASKS = ["http", "files", "typed", "mcp", "desk"];
const SHOP = fileURLToPath(new URL("shopServer.mjs", import.meta.url));

describe.each([
  ["@agent", agentHttp],
  ["AI SDK", aiSdkHttp],
])("an HTTP app with %s", (_name, { createApp }) => {
  test("streams an answer for which a tool was called", async () => {
    const { baseURL, seen } = await startModelServer([{ name: "weather", args: { city: "Oslo" } }, "Sunny!"]);
    const answer = await fetch(await listen(createApp(baseURL)), { method: "POST", body: "How is Oslo?" });
    expect(await answer.text()).toBe("Sunny!");
    expect(JSON.stringify(seen[1])).toContain("It is sunny in Oslo.");
  });

  test("breaks the answer off when the model's server fails, and answers the next request", async () => {
    const { baseURL } = await startModelServer([{ status: 401 }, "Sunny!"]);
    const url = await listen(createApp(baseURL));
    const ask = async () => await (await fetch(url, { method: "POST", body: "How is Oslo?" })).text();
    await ask().catch(() => undefined);
    expect(await ask()).toBe("Sunny!");
  });
});

describe.each([
  ["@agent", agentFiles],
  ["AI SDK", aiSdkFiles],
])("questions about files with %s", (_name, { ask }) => {
  test("reads and searches the folder, and nothing outside of it", async () => {
    const root = mkdtempSync(join(tmpdir(), "comparison-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    writeFileSync(join(root, "a.txt"), "the needle\n");
    const { baseURL, seen } = await startModelServer([
      { name: "search_text", args: { query: "needle", paths: [root] } },
      { name: "read_file", args: { path: join(root, "a.txt") } },
      { name: "read_file", args: { path: "/etc/hostname" } },
      "In a.txt.",
    ]);
    expect(await ask("Where is the needle?", root, baseURL)).toBe("In a.txt.");
    const results = seen
      .at(-1)
      ?.filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.stringify(content));
    expect(results?.[0]).toContain("a.txt:1:the needle");
    expect(results?.[1]).toContain("the needle");
    expect(results?.[2]).toContain("outside");
  });
});

describe.each([
  ["@agent", agentTyped],
  ["AI SDK", aiSdkTyped],
])("a typed tool with a structured answer with %s", (_name, { compare }) => {
  test("gives a value of the schema's type", async () => {
    const { baseURL } = await startModelServer([
      { name: "population", args: { city: "Paris" } },
      '{"city":"Paris","people":2100000}',
    ]);
    const answer: { city: string; people: number } = await compare("How many live in Paris?", baseURL);
    expect(answer).toEqual({ city: "Paris", people: 2_100_000 });
  });
});

describe.each([
  ["@agent", agentMcp, "mcp__shop__price"],
  ["AI SDK", aiSdkMcp, "price"],
])("an MCP server as tools with %s", (_name, { askServer }, tool) => {
  test("calls the server's tool, and ends the server with the answer", async () => {
    const { baseURL, seen } = await startModelServer([{ name: tool, args: { article: "Tea" } }, "12 euros."]);
    expect(await askServer("What is tea?", [SHOP], baseURL)).toBe("12 euros.");
    expect(JSON.stringify(seen[1])).toContain("Tea: 12 euros");
  });
});

test.each(TASKS)("needs no more lines in the program for %s than with the AI SDK", (task) => {
  expect(lines(`../src/${task}/agent.ts`)).toBeLessThanOrEqual(lines(`../src/${task}/aiSdk.ts`));
});

test("shows in docs/comparison.md the programs that run here", () => {
  const page = readFileSync(new URL("../../../docs/comparison.md", import.meta.url), "utf8");
  for (const task of TASKS) {
    for (const side of ["agent", "aiSdk"]) {
      expect(page).toContain(readFileSync(new URL(`../src/${task}/${side}.ts`, import.meta.url), "utf8"));
    }
  }
  expect(page).toContain(readFileSync(new URL("../src/desk/openaiAgents.ts", import.meta.url), "utf8"));
  const [ours, theirs, others] = ["agent", "aiSdk", "openaiAgents"].map((side) =>
    lines(`../src/desk/${side}.ts`),
  );
  expect(page).toContain(`@agent ${ours}, AI SDK ${theirs}, OpenAI Agents SDK ${others}`);
});

function lines(path: string): number {
  const text = readFileSync(new URL(path, import.meta.url), "utf8");
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

async function listen(app: Server): Promise<string> {
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    app.closeAllConnections();
    app.close();
  });
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}/`;
}
