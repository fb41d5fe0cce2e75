import type { ChatMessage, ChatProvider, ChatTool } from "@agent/core";
import { AnthropicProvider } from "@agent/provider-anthropic";
import { GoogleProvider } from "@agent/provider-google";
import { OpenAIProvider } from "@agent/provider-openai";
import type { ProviderDialect, SampleAnswer } from "@agent/testing";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { chat, generateContent, messages, responses } from "./dialects.js";
import { scriptedServer } from "./scriptedServer.js";

/**
 * The same conversation through the vendor's own SDK, as its documentation shows, and through our provider: a
 * question with an image, an answer that thinks and calls two tools, their results. What both send must be the same.
 */

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SYSTEM = "Be brief.";
const ANSWER: SampleAnswer = {
  text: "Looking.",
  reasoning: "Hm.",
  signature: "sig/1+==",
  calls: [
    { id: "call_1", name: "look_up", args: { path: "a", deep: { list: [1, null] } } },
    { id: "call_2", name: "look_up", args: { path: "b" } },
  ],
};
const PARAMETERS = {
  type: "object" as const,
  properties: { path: { type: "string", description: "Where." } },
  required: ["path"],
};
const TOOLS: readonly ChatTool[] = [
  { type: "function", function: { name: "look_up", description: "Looks up.", parameters: PARAMETERS } },
];

interface Sent {
  readonly path: string;
  readonly bodies: readonly unknown[];
}

async function serve(dialect: ProviderDialect) {
  const server = await scriptedServer(dialect, [ANSWER, { text: "Done." }]);
  onTestFinished(() => server.close());
  return server;
}

/** The two requests of our provider: the question, then the same with the answer and the results. */
async function ours(dialect: ProviderDialect, create: (baseURL: string) => ChatProvider): Promise<Sent> {
  const server = await serve(dialect);
  const provider = create(server.baseURL);
  const conversation: ChatMessage[] = [
    { role: "system", content: SYSTEM },
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image", mediaType: "image/png", data: PIXEL },
      ],
    },
  ];
  const request = { tools: TOOLS, signal: new AbortController().signal };
  const { content, toolCalls, state } = await provider.respond({ ...request, messages: conversation });
  await provider.respond({
    ...request,
    messages: [
      ...conversation,
      {
        role: "assistant",
        content,
        tool_calls: toolCalls,
        state: { provider: provider.id ?? "", value: state },
      },
      ...toolCalls.map(
        ({ id }, index): ChatMessage => ({ role: "tool", tool_call_id: id, content: `found ${index}` }),
      ),
    ],
  });
  return sentTo(server);
}

async function theirs(dialect: ProviderDialect, run: (baseURL: string) => Promise<void>): Promise<Sent> {
  const server = await serve(dialect);
  await run(server.baseURL);
  return sentTo(server);
}

function sentTo({ requests }: Awaited<ReturnType<typeof scriptedServer>>): Sent {
  return { path: requests[0]?.url ?? "", bodies: requests.map(({ body }) => body) };
}

test("sends the same chat completions as with openai", async () => {
  const own = await ours(
    chat,
    (url) => new OpenAIProvider({ model: "m", apiKey: "k", baseURL: `${url}/v1` }),
  );
  const vendor = await theirs(chat, async (url) => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1` });
    const history: OpenAI.ChatCompletionMessageParam[] = [
      { role: "system", content: SYSTEM },
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
        ],
      },
    ];
    const tools = TOOLS as OpenAI.ChatCompletionTool[];
    const { choices } = await client.chat.completions.create({
      model: "m",
      stream: false,
      messages: history,
      tools,
    });
    const message = choices[0]?.message;
    if (!message) throw new Error("no message");
    history.push(message);
    for (const [index, { id }] of (message.tool_calls ?? []).entries()) {
      history.push({ role: "tool", tool_call_id: id, content: `found ${index}` });
    }
    await client.chat.completions.create({ model: "m", stream: false, messages: history, tools });
  });
  expect(own).toEqual(vendor);
});

test("sends the same Responses as with openai, except for ids of items that the server does not store", async () => {
  const own = await ours(
    responses,
    (url) => new OpenAIProvider({ model: "m", apiKey: "k", baseURL: `${url}/v1`, api: "responses" }),
  );
  const vendor = await theirs(responses, async (url) => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1` });
    const input: OpenAI.Responses.ResponseInputItem[] = [
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is it?" },
          { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
        ],
      },
    ];
    const request = {
      model: "m",
      stream: false,
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: SYSTEM,
      tools: [
        {
          type: "function",
          name: "look_up",
          description: "Looks up.",
          parameters: PARAMETERS,
          strict: false,
        },
      ],
    } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const { output } = await client.responses.create({ ...request, input });
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    for (const [index, item] of output.filter(({ type }) => type === "function_call").entries()) {
      const { call_id } = item as OpenAI.Responses.ResponseFunctionToolCall;
      input.push({ type: "function_call_output", call_id, output: `found ${index}` });
    }
    await client.responses.create({ ...request, input });
  });
  expect(own.path).toBe(vendor.path);
  expect(own.bodies).toEqual(vendor.bodies.map(withoutItemIds));
});

/** Removes ids that may differ: only reasoning keeps its id. Also accepts the short form of a message. */
function withoutItemIds(body: unknown): unknown {
  const { input, ...rest } = body as { input: Record<string, unknown>[] };
  return {
    ...rest,
    input: input.map((item) => {
      if (item.type === "reasoning") return item;
      const { id: _, status: __, parsed_arguments: ___, ...kept } = item;
      if (kept.type !== "message") return kept;
      return { role: kept.role, content: (kept.content as { text: string }[])[0]?.text };
    }),
  };
}

test("sends the same Messages as with @anthropic-ai/sdk", async () => {
  const own = await ours(messages, (baseURL) => new AnthropicProvider({ model: "m", apiKey: "k", baseURL }));
  const mark = { type: "ephemeral" } as const;
  const vendor = await theirs(messages, async (baseURL) => {
    const client = new Anthropic({ apiKey: "k", baseURL });
    const request = {
      model: "m",
      max_tokens: 32_000,
      stream: false,
      system: [{ type: "text", text: SYSTEM, cache_control: mark }],
      tools: [{ name: "look_up", description: "Looks up.", input_schema: PARAMETERS }],
    } satisfies Omit<Anthropic.MessageCreateParamsNonStreaming, "messages">;
    const question: Anthropic.MessageParam = {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: PIXEL },
          cache_control: mark,
        },
      ],
    };
    const options = { timeout: 60_000 };
    const { content } = await client.messages.create({ ...request, messages: [question] }, options);
    const calls = content.filter((block) => block.type === "tool_use");
    const results = calls.map(
      ({ id }, index): Anthropic.ToolResultBlockParam => ({
        type: "tool_result",
        tool_use_id: id,
        content: `found ${index}`,
        ...(index === calls.length - 1 && { cache_control: mark }),
      }),
    );
    await client.messages.create(
      {
        ...request,
        messages: [
          question,
          { role: "assistant", content: content as Anthropic.ContentBlockParam[] },
          { role: "user", content: results },
        ],
      },
      options,
    );
  });
  expect(own).toEqual(vendor);
});

test("sends the same generateContent as with @google/genai", async () => {
  const own = await ours(
    generateContent,
    (baseURL) => new GoogleProvider({ model: "gemini-3-pro", apiKey: "k", baseURL }),
  );
  const vendor = await theirs(generateContent, async (baseUrl) => {
    const ai = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl } });
    const config = {
      systemInstruction: { parts: [{ text: SYSTEM }] },
      tools: [
        {
          functionDeclarations: [
            { name: "look_up", description: "Looks up.", parametersJsonSchema: PARAMETERS },
          ],
        },
      ],
    };
    const question = {
      role: "user",
      parts: [{ text: "What is it?" }, { inlineData: { mimeType: "image/png", data: PIXEL } }],
    };
    const model = "gemini-3-pro";
    const { candidates } = await ai.models.generateContent({ model, contents: [question], config });
    const content = candidates?.[0]?.content;
    if (!content) throw new Error("no content");
    const calls = (content.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
    const results = calls.map(({ id, name }, index) => ({
      functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: `found ${index}` } },
    }));
    await ai.models.generateContent({
      model,
      contents: [question, content, { role: "user", parts: results }],
      config,
    });
  });
  expect(own.path).toBe(vendor.path);
  expect(own.bodies).toEqual(vendor.bodies.map(withoutThoughts));
});

/** Removes summaries of thoughts: code with the SDK sends them back, but Google's documentation does not require it. */
function withoutThoughts(body: unknown): unknown {
  const {
    contents,
    generationConfig: _,
    systemInstruction,
    ...rest
  } = body as {
    contents: { role: string; parts: { thought?: boolean }[] }[];
    generationConfig?: unknown;
    systemInstruction: { parts: unknown };
  };
  return {
    ...rest,
    systemInstruction: { parts: systemInstruction.parts },
    contents: contents.map(({ role, parts }) => ({ role, parts: parts.filter(({ thought }) => !thought) })),
  };
}
