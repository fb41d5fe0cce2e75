import { Agent, defineTool } from "@agent/core";
import { events, json, MODES, type Reply } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { errorReply, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, lastRequest } = await useOpenAIServer();

const PATCH = '*** Begin Patch\n*** Add File: "a".txt\n+one\t😀\n*** End Patch\n';
const GRAMMAR = "start: /.+/";

const patches: unknown[] = [];
const patch = defineTool({
  name: "patch",
  description: "Patches.",
  input: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
  freeform: { argument: "input", lark: GRAMMAR },
  execute: ({ input }) => {
    patches.push(input);
    return "patched";
  },
});
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: {} },
  execute: () => "seen",
});

const CUSTOM = { type: "custom_tool_call", id: "i1", call_id: "c1", name: "patch", input: PATCH };
const PLAIN = { type: "function_call", id: "i2", call_id: "c2", name: "look", arguments: "{}" };

function replyWith(mode: string, ...output: Record<string, unknown>[]): Reply {
  const whole = { object: "response", status: "completed", output };
  if (mode === "JSON") return json(whole);
  const steps = output.flatMap((item, output_index) => {
    const pieces = item.type === "custom_tool_call" ? [...String(item.input)].flatMap((one) => [...one]) : [];
    return [
      { type: "response.output_item.added", output_index, item: { ...item, input: "" } },
      ...pieces.map((delta) => ({ type: "response.custom_tool_call_input.delta", output_index, delta })),
      { type: "response.output_item.done", output_index, item },
    ];
  });
  return events(...steps, { type: "response.completed", response: whole });
}

const said = (text: string) => ({ type: "message", content: [{ type: "output_text", text }] });

async function ask(mode: string, agent: Agent): Promise<string> {
  if (mode === "JSON") return await agent.chat("Go.");
  let text = "";
  for await (const event of agent.streamChat("Go.")) if (event.type === "done") text = event.text;
  return text;
}

describe.each(MODES)("a tool that takes plain text, %s", (mode) => {
  test("is offered with its grammar, called with the text as it is, and sent back the same way", async () => {
    patches.length = 0;
    server.script(replyWith(mode, CUSTOM, PLAIN), replyWith(mode, said("Done.")));
    const agent = new Agent(provider({ api: "responses" }), { tools: [patch, look] });
    expect(await ask(mode, agent)).toBe("Done.");
    expect(patches).toEqual([PATCH]);
    const { tools, input } = lastRequest().body as Record<string, Record<string, unknown>[]>;
    expect(tools?.find(({ name }) => name === "patch")).toEqual({
      type: "custom",
      name: "patch",
      description: "Patches.",
      format: { type: "grammar", syntax: "lark", definition: GRAMMAR },
    });
    expect(tools?.find(({ name }) => name === "look")).toMatchObject({ type: "function" });
    expect(input?.slice(1)).toEqual([
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: PATCH },
      { type: "function_call", call_id: "c2", name: "look", arguments: "{}" },
      { type: "custom_tool_call_output", call_id: "c1", output: "patched" },
      { type: "function_call_output", call_id: "c2", output: "seen" },
    ]);
  });

  test("is a function where the server refuses such tools", async () => {
    patches.length = 0;
    const args = JSON.stringify({ input: PATCH });
    server.script(
      errorReply(400, "Invalid value: 'custom'. Supported values are: 'function'.", {
        param: "tools[0].type",
      }),
      replyWith(mode, { type: "function_call", call_id: "c1", name: "patch", arguments: args }),
      replyWith(mode, said("Done.")),
    );
    const agent = new Agent(provider({ api: "responses" }), { tools: [patch] });
    expect(await ask(mode, agent)).toBe("Done.");
    expect(patches).toEqual([PATCH]);
    const { tools, input } = lastRequest().body as Record<string, Record<string, unknown>[]>;
    expect(tools?.find(({ name }) => name === "patch")).toMatchObject({ type: "function", strict: false });
    expect(input?.slice(1)).toMatchObject([
      { type: "function_call", arguments: args },
      { type: "function_call_output" },
    ]);
  });
});

test("a tool that takes plain text is a function over chat completions", async () => {
  server.script(
    json({ choices: [{ message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }] }),
  );
  await new Agent(provider(), { tools: [patch] }).chat("Go.");
  const { tools } = lastRequest().body as unknown as { tools: Record<string, Record<string, unknown>>[] };
  expect(tools.find((tool) => tool.function?.name === "patch")).toEqual({
    type: "function",
    function: expect.objectContaining({ name: "patch" }),
  });
  expect(JSON.stringify(tools)).not.toContain(GRAMMAR);
});
