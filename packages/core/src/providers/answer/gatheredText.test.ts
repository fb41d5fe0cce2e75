import { expect, test } from "vitest";
import type { ChatRequest } from "../interface.js";
import { GatheredText } from "./gatheredText.js";

function gather() {
  const calls: string[] = [];
  const given: ChatRequest = {
    messages: [],
    tools: [],
    signal: new AbortController().signal,
    onText: (text) => calls.push(`text ${text}`),
    onReasoning: (text) => calls.push(`reasoning ${text}`),
    onToolDraft: ({ delta }) => calls.push(`draft ${delta}`),
  };
  return { calls, gathered: new GatheredText(given) };
}

test("reports together, and once, what arrived together", () => {
  const { calls, gathered } = gather();
  gathered.request.onText?.("a");
  gathered.request.onText?.("b");
  expect(calls).toEqual([]);
  gathered.report();
  gathered.report();
  expect(calls).toEqual(["text ab"]);
});

test("reports text, reasoning and calls in the order in which they arrived", () => {
  const { calls, gathered } = gather();
  gathered.request.onReasoning?.("1");
  gathered.request.onReasoning?.("2");
  gathered.request.onText?.("3");
  gathered.request.onReasoning?.("4");
  gathered.request.onText?.("5");
  gathered.request.onToolDraft?.({ index: 0, name: "t", delta: "6" });
  gathered.request.onText?.("7");
  gathered.report();
  expect(calls).toEqual(["reasoning 12", "text 3", "reasoning 4", "text 5", "draft 6", "text 7"]);
});

test("sends no reasoning to a request that does not want it", () => {
  const { request } = new GatheredText({ messages: [], tools: [], signal: new AbortController().signal });
  expect(request).not.toHaveProperty("onReasoning");
  expect(request).not.toHaveProperty("onText");
});
