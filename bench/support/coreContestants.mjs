// The same conversation by hand over `openai`, with openai's own runner, with @agent/core, and with its peers. Each loads
// only what it needs, when it is made.
import { PEERS } from "./corePeers.mjs";

export const BY_HAND = "hand-written loop over openai";
export const OURS = "@agent/core";

const QUESTION = "Look everything up.";
const MODEL = "m";
const FUNCTION = {
  name: "lookup",
  description: "Looks something up.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, limit: { type: "integer", minimum: 1 } },
    required: ["path", "limit"],
  },
};
const SCHEMA = { type: "function", function: FUNCTION };
const MAKERS = { [BY_HAND]: byHand, [OURS]: ours, "openai runTools": runTools, ...PEERS };

export const CONTESTANTS = Object.keys(MAKERS);

/**
 * A function `({ stream }) => Promise<string>` that holds one whole conversation with the server at `baseURL`, running
 * `tool(args)` for every call. Rejects for a framework that does not load.
 */
export async function makeContestant(name, baseURL, tool) {
  return await MAKERS[name]({ baseURL, tool, model: MODEL, schema: FUNCTION, question: QUESTION });
}

async function byHand({ baseURL, tool }) {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
  return async ({ stream }) => {
    const messages = [{ role: "user", content: QUESTION }];
    for (;;) {
      const request = { model: MODEL, messages, tools: [SCHEMA] };
      const message = stream
        ? await streamed(client, request)
        : (await client.chat.completions.create(request)).choices[0].message;
      messages.push(message);
      if (!message.tool_calls?.length) return message.content;
      const results = await Promise.all(
        message.tool_calls.map((call) => tool(JSON.parse(call.function.arguments))),
      );
      for (const [index, { id }] of message.tool_calls.entries()) {
        messages.push({ role: "tool", tool_call_id: id, content: results[index] });
      }
    }
  };
}

async function streamed(client, request) {
  const message = { role: "assistant", content: "", tool_calls: undefined };
  const answer = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { choices } of answer) {
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

/** An agent of core, with more options where a measurement needs them. */
export async function ours({ baseURL, tool }, options) {
  const { Agent } = await import("../../packages/core/dist/index.js");
  const { OpenAIProvider } = await import("../../packages/provider-openai/dist/index.js");
  const provider = new OpenAIProvider({ apiKey: "k", baseURL, model: MODEL, maxRetries: 0 });
  const lookup = { name: "lookup", capabilities: ["read"], getSchema: () => SCHEMA, execute: tool };
  return async ({ stream, signal }) => {
    const agent = new Agent(provider, options);
    agent.removeTool("save_session_context");
    agent.addTool(lookup);
    if (!stream) return await agent.chat(QUESTION, signal && { signal });
    let text = "";
    for await (const event of agent.streamChat(QUESTION)) if (event.type === "done") text = event.text;
    return text;
  };
}

async function runTools({ baseURL, tool }) {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
  const tools = [{ type: "function", function: { ...FUNCTION, parse: JSON.parse, function: tool } }];
  return async ({ stream }) => {
    const messages = [{ role: "user", content: QUESTION }];
    const runner = client.chat.completions.runTools(
      { model: MODEL, messages, tools, stream },
      { maxChatCompletions: 100 },
    );
    return await runner.finalContent();
  };
}
