// On each wire the same conversation twice: a loop by hand over the vendor's own SDK, and our provider in our loop.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { Agent } from "../../packages/core/dist/index.js";
import { functionTool } from "../../packages/core/dist/toolkit.js";
import { AnthropicProvider } from "../../packages/provider-anthropic/dist/index.js";
import { GoogleProvider } from "../../packages/provider-google/dist/index.js";
import { OpenAIProvider } from "../../packages/provider-openai/dist/index.js";

const SCHEMA = functionTool("lookup", "Looks something up.", {
  path: { type: "string" },
  limit: { type: "integer", minimum: 1 },
});
const { name, description, parameters } = SCHEMA.function;
const QUESTION = "Look everything up.";
const tool = async ({ path, limit }) => `${path}: ${limit} lines`;

export const WIRES = ["openai chat", "openai responses", "anthropic", "google"];

/** By the name of the wire: `byHand` and `ours`, each `({ stream }) => Promise<string>`. */
export function providerContestants(baseURL) {
  const v1 = `${baseURL}/v1`;
  const options = { model: "m", apiKey: "k", maxRetries: 0 };
  return {
    "openai chat": {
      byHand: chatByHand(v1),
      ours: ours(new OpenAIProvider({ ...options, baseURL: v1, api: "chat" })),
    },
    "openai responses": {
      byHand: responsesByHand(v1),
      ours: ours(new OpenAIProvider({ ...options, baseURL: v1, api: "responses" })),
    },
    anthropic: {
      byHand: messagesByHand(baseURL),
      ours: ours(new AnthropicProvider({ ...options, baseURL })),
    },
    google: { byHand: contentByHand(baseURL), ours: ours(new GoogleProvider({ ...options, baseURL })) },
  };
}

function ours(provider) {
  const lookup = { name, capabilities: ["read"], getSchema: () => SCHEMA, execute: tool };
  return async ({ stream }) => {
    const agent = new Agent(provider);
    agent.removeTool("save_session_context");
    agent.addTool(lookup);
    if (!stream) return await agent.chat(QUESTION);
    let text = "";
    for await (const event of agent.streamChat(QUESTION)) if (event.type === "done") text = event.text;
    return text;
  };
}

function chatByHand(baseURL) {
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
  return async ({ stream }) => {
    const messages = [{ role: "user", content: QUESTION }];
    for (;;) {
      const request = { model: "m", messages, tools: [SCHEMA] };
      const message = stream
        ? await chatStream(client, request)
        : (await client.chat.completions.create(request)).choices[0].message;
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      for (const call of message.tool_calls) {
        const content = await tool(JSON.parse(call.function.arguments));
        messages.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
  };
}

async function chatStream(client, request) {
  const message = { role: "assistant", content: "", tool_calls: undefined };
  const options = { ...request, stream: true, stream_options: { include_usage: true } };
  for await (const { choices } of await client.chat.completions.create(options)) {
    const delta = choices[0]?.delta;
    if (delta?.content) message.content += delta.content;
    for (const { index, id, function: called } of delta?.tool_calls ?? []) {
      message.tool_calls ??= [];
      message.tool_calls[index] ??= { id, type: "function", function: { name: called.name, arguments: "" } };
      message.tool_calls[index].function.arguments += called.arguments ?? "";
    }
  }
  return message;
}

function responsesByHand(baseURL) {
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
  const tools = [{ type: "function", name, description, parameters, strict: false }];
  return async ({ stream }) => {
    const input = [{ role: "user", content: QUESTION }];
    for (;;) {
      const request = { model: "m", store: false, include: ["reasoning.encrypted_content"], tools, input };
      let output = [];
      let text = "";
      if (stream) {
        for await (const event of await client.responses.create({ ...request, stream: true })) {
          if (event.type === "response.output_text.delta") text += event.delta;
          if (event.type === "response.output_item.done") output.push(event.item);
        }
      } else {
        const response = await client.responses.create(request);
        output = response.output;
        text = response.output_text;
      }
      input.push(...output);
      const calls = output.filter(({ type }) => type === "function_call");
      if (calls.length === 0) return text;
      for (const call of calls) {
        const result = await tool(JSON.parse(call.arguments));
        input.push({ type: "function_call_output", call_id: call.call_id, output: result });
      }
    }
  };
}

function messagesByHand(baseURL) {
  const client = new Anthropic({ apiKey: "k", baseURL, maxRetries: 0 });
  const tools = [{ name, description, input_schema: parameters }];
  return async ({ stream }) => {
    const messages = [{ role: "user", content: QUESTION }];
    for (;;) {
      const request = { model: "m", max_tokens: 8000, tools, messages };
      const { content } = stream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
      messages.push({ role: "assistant", content });
      const calls = content.filter(({ type }) => type === "tool_use");
      if (calls.length === 0) return content[0].text;
      const results = [];
      for (const { id, input } of calls) {
        results.push({ type: "tool_result", tool_use_id: id, content: await tool(input) });
      }
      messages.push({ role: "user", content: results });
    }
  };
}

function contentByHand(baseUrl) {
  const ai = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } });
  const config = {
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
  };
  return async ({ stream }) => {
    const contents = [{ role: "user", parts: [{ text: QUESTION }] }];
    for (;;) {
      const request = { model: "m", contents, config };
      let parts = [];
      if (stream) {
        for await (const chunk of await ai.models.generateContentStream(request)) {
          parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        }
      } else {
        parts = (await ai.models.generateContent(request)).candidates[0].content.parts;
      }
      contents.push({ role: "model", parts });
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      if (calls.length === 0) return parts.map(({ text }) => text).join("");
      const results = [];
      for (const { id, name: called, args } of calls) {
        results.push({ functionResponse: { id, name: called, response: { output: await tool(args) } } });
      }
      contents.push({ role: "user", parts: results });
    }
  };
}
