import { Agent, type ChatProvider, defineTool } from "@agent/core";
import { AnthropicProvider } from "@agent/provider-anthropic";
import { GoogleProvider } from "@agent/provider-google";
import { OpenAIProvider } from "@agent/provider-openai";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, describe, expect, test } from "vitest";

/** An independent implementation of the four APIs: it must understand our requests, and we must understand its answers. */

const mock = new LLMock({ port: 0 });
mock.on(
  { userMessage: "the weather", hasToolResult: false },
  { toolCalls: [{ name: "get_weather", arguments: '{"city":"Zürich"}' }] },
);
mock.on({ userMessage: "the weather", hasToolResult: true }, { content: "It is 21 degrees, größer 😀." });
mock.onMessage("fails", {
  error: { message: "this model is gone", type: "invalid_request_error" },
  status: 400,
});
await mock.start();
afterAll(() => mock.stop());

const PROVIDERS: readonly [string, () => ChatProvider][] = [
  ["chat completions", () => new OpenAIProvider({ model: "gpt-4o", apiKey: "k", baseURL: `${mock.url}/v1` })],
  [
    "Responses",
    () => new OpenAIProvider({ model: "gpt-4o", apiKey: "k", baseURL: `${mock.url}/v1`, api: "responses" }),
  ],
  ["Messages", () => new AnthropicProvider({ model: "claude-sonnet-4-5", apiKey: "k", baseURL: mock.url })],
  [
    "generateContent",
    () => new GoogleProvider({ model: "gemini-2.5-flash", apiKey: "k", baseURL: mock.url }),
  ],
];

describe.each(PROVIDERS)("%s of an independent mock", (_name, create) => {
  function agentOf(asked: unknown[]): Agent {
    const agent = new Agent(create());
    agent.addTool(
      defineTool({
        name: "get_weather",
        description: "The weather in a city.",
        input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        execute: (args) => {
          asked.push(args);
          return "21";
        },
      }),
    );
    return agent;
  }

  test("completes a turn with a tool", async () => {
    const asked: unknown[] = [];
    expect(await agentOf(asked).chat("What is the weather?")).toBe("It is 21 degrees, größer 😀.");
    expect(asked).toEqual([{ city: "Zürich" }]);
  });

  test("completes a streamed turn with a tool", async () => {
    const asked: unknown[] = [];
    let text = "";
    for await (const event of agentOf(asked).streamChat("What is the weather?")) {
      if (event.type === "text") text += event.text;
    }
    expect(text).toBe("It is 21 degrees, größer 😀.");
    expect(asked).toEqual([{ city: "Zürich" }]);
  });

  test("reports the message of the server in an error", async () => {
    await expect(agentOf([]).chat("This fails.")).rejects.toThrow(/this model is gone/);
  });
});
