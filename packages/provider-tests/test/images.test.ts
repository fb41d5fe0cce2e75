import { Agent, type ContentPart } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { startStrictServer } from "./strict/server.js";
import { STRICT_CHAT, STRICT_RESPONSES } from "./strict/wires.js";
import { WIRES } from "./strictWires.js";

/** Images that a server would refuse are never sent: the model gets a description, and the conversation continues. */

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function png(width: number, bytes = 0): string {
  const header = Buffer.from(PIXEL, "base64");
  header.writeUInt32BE(width, 16);
  return Buffer.concat([header, Buffer.alloc(bytes)]).toString("base64");
}

const image = (data: string, mediaType = "image/png"): ContentPart => ({ type: "image", mediaType, data });

async function talk(one: (typeof WIRES)[number], ...questions: ContentPart[]) {
  const server = await startStrictServer(one.wire);
  onTestFinished(() => server.close());
  const agent = new Agent(one.create(server.baseURL));
  agent.addTool({
    name: "look_up",
    capabilities: ["read"],
    getSchema: () => ({
      type: "function",
      function: { name: "look_up", parameters: { type: "object", properties: { path: { type: "string" } } } },
    }),
    execute: async () => "found",
  });
  const notices: string[] = [];
  for (const part of questions) {
    for await (const event of agent.streamChat([{ type: "text", text: "What is it?" }, part])) {
      if (event.type === "notice") notices.push(event.text);
    }
  }
  expect(await agent.chat("And now?")).toMatch(/^Answer/);
  expect(server.refusals).toEqual([]);
  return { notices, last: JSON.stringify(server.requests.at(-1)?.body) };
}

describe.each(WIRES)("images on $name", (one) => {
  test("are replaced by a description if the bytes are not an image", async () => {
    const { notices, last } = await talk(one, image(Buffer.from("<html>".repeat(20)).toString("base64")));
    expect(notices).toEqual([expect.stringContaining("its bytes are not an image that can be read")]);
    expect(last).toContain("its bytes are not an image that can be read");
  });

  test("are sent with the right format name if theirs is wrong", async () => {
    const { notices, last } = await talk(one, image(PIXEL, "image/jpeg"));
    expect(notices).toEqual([]);
    expect(last).toContain(PIXEL);
    expect(last).not.toContain("image/jpeg");
  });
});

const [, , anthropic, google] = WIRES;
if (!anthropic || !google)
  throw new Error("WIRES must hold the wires of Anthropic and Google at these positions.");

test.each<[string, typeof anthropic, ContentPart, string]>([
  [
    "too heavy for Anthropic",
    anthropic,
    image(png(1, 5 * 1024 * 1024)),
    "the server takes at most 3932160 bytes",
  ],
  [
    "too large for Anthropic",
    anthropic,
    image(png(9000)),
    "at most 8000 × 8000 pixels, and this one has 9000 × 1",
  ],
  [
    "too heavy for Google",
    google,
    image(png(1, 16 * 1024 * 1024)),
    "the server takes at most 14680064 bytes",
  ],
  [
    "of a format Google does not take",
    google,
    image("R0lGODlhAQABAAAAACw=", "image/png"),
    "does not take image/gif",
  ],
])("reports in plain text an image that is %s", async (_name, one, part, words) => {
  const { notices, last } = await talk(one, part);
  expect(notices).toEqual([expect.stringContaining(words)]);
  expect(last).toContain(words);
  expect(last.length).toBeLessThan(20_000);
});

test.each([
  ["Anthropic", anthropic, 100],
  ["OpenAI", ownAddress("chat"), 500],
  ["OpenAI's Responses", ownAddress("responses"), 500],
] as const)(
  "replaces the oldest images with text if there are more than %s takes",
  async (_name, one, most) => {
    const server = await startStrictServer(one.wire);
    onTestFinished(() => server.close());
    const provider = one.create(server.baseURL);
    const content = Array.from({ length: most + 1 }, () => image(PIXEL));
    const signal = new AbortController().signal;
    await provider.respond({ messages: [{ role: "user", content }], tools: [], signal });
    expect(server.refusals).toEqual([]);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(`at most ${most} images in a request`);
  },
);

/** OpenAI's limits apply only to its own address. A custom `fetch` redirects that address to the test server. */
function ownAddress(api: "chat" | "responses"): (typeof WIRES)[number] {
  return {
    name: api,
    wire: api === "chat" ? STRICT_CHAT : STRICT_RESPONSES,
    create: (baseURL) => {
      const here = (url: unknown, init?: RequestInit) =>
        fetch(String(url).replace("https://api.openai.com", baseURL), init);
      const client = new OpenAI({ apiKey: "k", baseURL: "https://api.openai.com/v1", fetch: here });
      return new OpenAIProvider({ model: "m", api, client, maxRetries: 0 });
    },
  };
}
