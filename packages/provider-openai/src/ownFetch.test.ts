import { expect, test } from "vitest";
import { OpenAIProvider } from "./provider.js";

test("sends the requests with a fetch of the caller, and asks it to follow no redirect", async () => {
  const sent: unknown[] = [];
  const provider = new OpenAIProvider({
    model: "m",
    apiKey: "k",
    baseURL: "http://models.example/v1",
    fetch: async (url, { method, redirect }) => {
      sent.push({ url, method, redirect });
      const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
      return Response.json({ choices });
    },
  });
  const answer = await provider.respond({
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    signal: new AbortController().signal,
  });
  expect(answer.content).toBe("hi");
  expect(sent).toEqual([
    { url: "http://models.example/v1/chat/completions", method: "POST", redirect: "manual" },
  ]);
});

test("refuses by name a fetch that is not a function", () => {
  const options = { model: "m", apiKey: "k", fetch: "no" };
  expect(() => new OpenAIProvider(options as never)).toThrow(
    /^OpenAIProvider: fetch must be a function, got /,
  );
});
