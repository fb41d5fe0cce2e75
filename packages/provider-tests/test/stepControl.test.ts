import { Agent, defineTool } from "@agent/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { chat, generateContent, messages, responses } from "./dialects.js";
import { scriptedServer } from "./scriptedServer.js";
import { SUBJECTS } from "./subjects.js";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});
const other = defineTool({
  name: "other",
  description: "Other.",
  input: { type: "object" },
  execute: () => "Done.",
});

/** How each API writes that a tool must be called, that any must be, and where its messages are. */
const WIRES = [
  {
    dialect: chat,
    field: "tool_choice",
    forced: { type: "function", function: { name: "look" } },
    any: "required",
  },
  { dialect: responses, field: "tool_choice", forced: { type: "function", name: "look" }, any: "required" },
  { dialect: messages, field: "tool_choice", forced: { type: "tool", name: "look" }, any: { type: "any" } },
  {
    dialect: generateContent,
    field: "toolConfig",
    forced: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
    any: { functionCallingConfig: { mode: "ANY" } },
  },
];

const CALL = { calls: [{ id: "1", name: "look", args: {} }] };

describe.each(SUBJECTS)("step control on $name", ({ dialect, create }) => {
  const wire = WIRES.find((one) => one.dialect === dialect);
  if (!wire) throw new Error("There is no wire of this dialect.");
  const { field, forced, any } = wire;

  async function serve(...answers: Parameters<typeof scriptedServer>[1]) {
    const server = await scriptedServer(dialect, answers);
    onTestFinished(() => server.close());
    const provider = create({
      baseURL: server.baseURL,
      apiKey: "key",
      timeoutMs: 10_000,
      maxRetries: 0,
      retryDelayMs: 1,
    });
    return { provider, requests: server.requests };
  }

  test("forces the first call on the wire with toolChoice, and the model decides afterwards", async () => {
    const { provider, requests } = await serve(CALL, { text: "Done." });
    const agent = new Agent(provider, { tools: [look, other], toolChoice: { tool: "look" } });
    expect(await agent.chat("Go.")).toBe("Done.");
    expect(requests[0]?.body[field]).toMatchObject(forced);
    expect(JSON.stringify(requests[1]?.body[field] ?? "")).not.toContain("look");
  });

  test("changes the tools, the choice and the messages of one request on the wire with beforeRequest", async () => {
    const { provider, requests } = await serve(CALL, { text: "Done." });
    const agent = new Agent(provider, {
      tools: [look, other],
      disable: ["save_session_context"],
      beforeRequest: ({ turn, messages: all }) =>
        turn === 1
          ? {
              tools: ["look"],
              toolChoice: "required",
              messages: [...all, { role: "user", content: "Hurry up." }],
            }
          : undefined,
    });
    expect(await agent.chat("Go.")).toBe("Done.");
    const [first, second] = requests.map(({ body }) => JSON.stringify(body));
    if (typeof any === "string") expect(requests[0]?.body[field]).toBe(any);
    else expect(requests[0]?.body[field]).toMatchObject(any);
    expect([first?.includes("Hurry up."), first?.includes('"other"')]).toEqual([true, false]);
    expect([second?.includes("Hurry up."), second?.includes('"other"')]).toEqual([false, true]);
  });

  test("ends the message after a tool round with stopWhen, and requests nothing more", async () => {
    const { provider, requests } = await serve(CALL, CALL, { text: "Done." });
    const agent = new Agent(provider, { tools: [look], stopWhen: ({ turn }) => turn >= 1 });
    await agent.run("Go.");
    expect(requests).toHaveLength(1);
    expect(agent.conversation.sessionContext.at(-1)).toMatchObject({ role: "tool", content: "Seen." });
  });
});
