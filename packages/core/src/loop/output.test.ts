import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { agentWith, call, collect } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { AgentEvent } from "../events.js";
import type { ChatProvider, ChatRequest } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { outputInstruction } from "./output.js";

const JSON_SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
  additionalProperties: false,
} as const;

const SCHEMAS = [
  ["JSON Schema", JSON_SCHEMA],
  ["zod", z.object({ city: z.string(), people: z.number().int() })],
  ["valibot", toStandardJsonSchema(v.object({ city: v.string(), people: v.pipe(v.number(), v.integer()) }))],
  ["arktype", type({ city: "string", people: "number.integer" })],
] as const;

const OSLO = { city: "Oslo", people: 717_710 };

describe.each(SCHEMAS)("an answer by a schema of %s", (_library, schema) => {
  test("returns a validated value", async () => {
    const agent = agentWith([JSON.stringify(OSLO)]);
    expect((await agent.run("Oslo?", { output: schema as never })).output).toEqual(OSLO);
  });

  test("is sent back with the reason if it does not fit, and the next one counts", async () => {
    const corrections: unknown[] = [];
    const agent = agentWith([
      '{"city":"Oslo","people":"many"}',
      ({ messages }) => {
        corrections.push(messages.at(-1)?.content);
        return JSON.stringify(OSLO);
      },
    ]);
    expect((await agent.run("Oslo?", { output: schema as never })).output).toEqual(OSLO);
    expect(corrections[0]).toMatch(/^Your answer does not fit the required form: .*people/s);
    // No user wrote it.
    expect(agent.conversation.sessionContext).toContainEqual({
      role: "user",
      content: corrections[0],
      generated: true,
    });
  });
});

test("types the value by the schema", async () => {
  const agent = agentWith([JSON.stringify(OSLO)]);
  const { output: value } = await agent.run("Oslo?", {
    output: z.object({ city: z.string(), people: z.number() }),
  });
  expectTypeOf(value).toEqualTypeOf<{ city: string; people: number }>();
  const output = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  const { output: fromJsonSchema } = await agentWith([JSON.stringify(OSLO)]).run("Oslo?", { output });
  expectTypeOf(fromJsonSchema).toEqualTypeOf<{ city: string }>();
  expectTypeOf(await agentWith(["x"]).chat("?")).toEqualTypeOf<string>();
});

test("returns the changed value of a schema that changes it", async () => {
  const agent = agentWith(['{"at":"2026-01-02"}']);
  const schema = z.object({ at: z.string().transform((text) => new Date(text)) });
  const { at } = (await agent.run("When?", { output: schema })).output;
  expect(at).toEqual(new Date("2026-01-02"));
});

test("runs tools before the answer, which may stand in a code fence", async () => {
  const agent = agentWith([call("read"), `\`\`\`json\n${JSON.stringify(OSLO)}\n\`\`\``], [fakeTool("read")]);
  expect((await agent.run("Oslo?", { output: JSON_SCHEMA })).output).toEqual(OSLO);
});

test("reads an answer of several lines without a code fence", async () => {
  const agent = agentWith([`${JSON.stringify(OSLO, undefined, 2)}\n`]);
  expect((await agent.run("Oslo?", { output: JSON_SCHEMA })).output).toEqual(OSLO);
});

test("stops after the allowed number of attempts for a schema no answer can satisfy", async () => {
  const agent = agentWith(
    Array.from({ length: 10 }, () => "{}"),
    [],
    { maxOutputRetries: 2 },
  );
  await expect(agent.run("?", { output: { not: {} } })).rejects.toMatchObject({
    code: "output_invalid",
    message: expect.stringContaining("in 3 attempts"),
  });
  // The conversation continues as an ordinary one.
  expect(await agent.chat("Never mind.")).toBe("{}");
});

test("uses a server's own mode if there is one; otherwise asks the model in plain text", async () => {
  const requests: ChatRequest[] = [];
  const ask = async (nativeOutput: boolean) => {
    const script = scriptedProvider([
      (request) => {
        requests.push(request);
        return JSON.stringify(OSLO);
      },
    ]);
    const provider: ChatProvider = { ...script, nativeOutput };
    await new Agent(provider, { systemPrompt: "Be brief." }).run("?", { output: JSON_SCHEMA });
  };
  await ask(true);
  await ask(false);
  const [native, told] = requests;
  expect(native?.output).toMatchObject({ schema: JSON_SCHEMA });
  expect(native?.messages[0]).toEqual({ role: "system", content: "Be brief." });
  expect(told?.messages[0]?.content).toMatch(/^Be brief\.\n\n.*write only JSON/s);
});

test("refuses to write an instruction for a format that is not one", () => {
  expect(() => outputInstruction(undefined as never)).toThrow(
    expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining("format") }),
  );
});

test("says in the stream that an answer which does not fit does not count", async () => {
  const wrong = '{"city":"Oslo"}';
  const agent = agentWith([wrong, JSON.stringify(OSLO)]);
  const events: AgentEvent[] = [];
  for await (const event of agent.streamChat("?", { output: JSON_SCHEMA })) events.push(event);
  const printed = events.map((event) => (event.type === "text" ? event.text : "")).join("");
  expect(printed).toBe(`${wrong}\n\n[The answer starts again.]\n\n${JSON.stringify(OSLO)}`);
  // A display that discards text at a retry.
  let shown = "";
  for (const event of events) {
    if (event.type === "retry") shown = "";
    if (event.type === "text") shown += event.whole ?? event.text;
  }
  expect(shown).toBe(JSON.stringify(OSLO));
});

test("returns the value of streamChat with the last event", async () => {
  const agent = agentWith([JSON.stringify(OSLO)]);
  const events = [];
  for await (const event of agent.streamChat("?", { output: JSON_SCHEMA })) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: "done", output: OSLO });
});

test.each([null, 7, "object", [], { type: "nonsense" }, { $ref: "https://example.com/x" }])(
  "refuses an invalid schema, %j, before anything is sent",
  async (schema) => {
    const agent = agentWith(["never sent"]);
    await expect(agent.run("?", { output: schema as never })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("output"),
    });
    expect((await collect(agent, "Now?")).error).toBeUndefined();
  },
);
