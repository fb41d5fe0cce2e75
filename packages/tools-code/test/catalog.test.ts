import {
  Agent,
  type ChatRequest,
  defineTool,
  type ExecutableTool,
  type JsonSchema,
  type PackRegistry,
} from "@agent/core";
import * as code from "@agent/tools-code";
import { describe, expect, test } from "vitest";
import { runScript } from "./support.js";

const named = (name: string, description = "Does something.", properties: Record<string, JsonSchema> = {}) =>
  defineTool({
    name,
    description,
    input: { type: "object", properties, required: Object.keys(properties).slice(0, 1) },
    capabilities: ["read"],
    execute: () => "ok",
  });

/** Two hundred tools of a server, as a pack that keeps their schemas out of requests. */
const server = {
  packName: "server",
  register(registry: PackRegistry) {
    for (let n = 0; n < 200; n++) {
      const tool = named(`srv__tool_${n}`, n === 7 ? "Creates an issue. Long text." : `Tool ${n}.`, {
        title: { type: "string", description: "x".repeat(500) },
      });
      registry.register(tool, { deferred: true });
    }
  },
};

/** The description of `run_script` in each of the requests of a conversation. */
async function descriptions(
  packs: readonly (typeof server | ExecutableTool)[],
  options: code.CodeOptions = {},
  between: (agent: Agent) => void = () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  const agent: Agent = new Agent(
    {
      model: "test",
      respond: async ({ tools }: ChatRequest) => {
        const tool = tools.find((one) => one.function.name === "run_script");
        seen.push(tool?.function.description ?? "");
        return { content: "Done.", toolCalls: [], finishReason: "stop" };
      },
    },
    { packs: [[code, options], ...packs] },
  );
  await agent.chat("one");
  between(agent);
  await agent.chat("two");
  await agent.dispose();
  return seen;
}

describe("declarations", () => {
  test("are TypeScript signatures of the tools that are on", async () => {
    const list = named("list", "Lists.", {
      kind: { enum: ["a", "b"] },
      tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } },
      at: { type: "object", properties: { "line-no": { type: "integer" } }, required: ["line-no"] },
    });
    const [text] = await descriptions([list, named("now-utc")]);
    expect(text).toContain(
      'list(args: { kind: "a" | "b"; tags?: (string | null)[]; at?: { "line-no": number } }): Promise<string>;',
    );
    expect(text).toContain('"now-utc"(): Promise<string>;');
    expect(text).not.toContain("run_script(");
  });

  test("stay the same while tools come and go", async () => {
    const [first, second] = await descriptions([server], {}, (agent) => {
      agent.addTool(named("late"));
      agent.disableTool("save_session_context");
    });
    expect(first).not.toBe("");
    expect(second).toBe(first);
  });

  test("do not grow with the tools of a server, which scripts search", async () => {
    const [without] = await descriptions([named("list")]);
    const [withServer] = await descriptions([named("list"), server]);
    expect(withServer).toBe(without);
  });

  test("stay within their budget and report how many are left", async () => {
    const tools = Array.from({ length: 50 }, (_, n) =>
      named(`tool_${n}`, "x", { argument: { type: "string" } }),
    );
    const [text = ""] = await descriptions(tools, { declarationTokens: 100 });
    const declared = text.slice(text.indexOf("declare const"));
    expect(declared.length).toBeLessThan(100 * 4 + 100);
    expect(declared).toMatch(/\/\/ \d+ more: find\("words"\)/);
  });

  test("survive schemas that are huge, deep or recursive", async () => {
    let deep: JsonSchema = { type: "string" };
    for (let n = 0; n < 50; n++) deep = { type: "object", properties: { next: deep } };
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`field_${n}`, { type: "string" }]),
    );
    const [text] = await descriptions([
      named("deep", "x", { deep }),
      named("wide", "x", many),
      named("self", "x", { node: { $ref: "#" } }),
    ]);
    expect(text).toContain("wide(args: object): Promise<string>;");
    expect(text).toContain("self(args: { node: unknown }): Promise<string>;");
  });
});

describe("find and describe", () => {
  const tools = [
    named("create_issue", "Opens a ticket. With more text.", { title: { type: "string" } }),
    named("close_issue", "Closes a ticket."),
    named("weather", "Forecasts."),
  ];

  test("rank tools by their text and show how to call them", async () => {
    const { text } = await runScript('return await find("create ticket");', { tools });
    expect(JSON.parse(text)).toEqual([
      {
        name: "create_issue",
        description: "Opens a ticket.",
        signature: "create_issue(args: { title: string }): Promise<string>",
      },
      { name: "close_issue", description: "Closes a ticket.", signature: "close_issue(): Promise<string>" },
    ]);
  });

  test("find nothing, and refuse what they cannot read", async () => {
    expect((await runScript('return await find("zzz");', { tools })).text).toBe("[]");
    expect((await runScript("return await find(5);", { tools })).text).toContain("find takes words");
    expect((await runScript('return await describe("wether");', { tools })).text).toContain('"weather"');
  });

  test("leave out tools that are off", async () => {
    expect((await runScript('return await find("weather");', { tools, disable: ["weather"] })).text).toBe(
      "[]",
    );
    expect(
      (await runScript('return await describe("weather");', { tools, disable: ["weather"] })).text,
    ).toContain('there is no tool "weather"');
  });

  test("find tools of a large server, which a script calls by name", async () => {
    const { text, inner } = await runScript(
      'const [tool] = await find("create issue"); const { parameters } = await describe(tool.name); return [tool.name, Object.keys(parameters.properties), await tools[tool.name]({ title: "x" })];',
      { more: [server] },
    );
    expect(JSON.parse(text)).toEqual(["srv__tool_7", ["title"], "ok"]);
    expect(inner).toMatchObject([{ name: "srv__tool_7", outcome: "ok" }]);
  });
});
