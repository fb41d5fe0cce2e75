import { expect, test } from "vitest";
import { Agent } from "../agent.js";
import type { ChatProvider } from "./interface.js";
import { scriptedProvider } from "./replay.js";
import { wrapProvider } from "./wrap.js";

test("describes itself as the wrapped provider, also after that one changes", async () => {
  let model = "first";
  const inner: ChatProvider = {
    ...scriptedProvider(["Hello."]),
    id: "test",
    get model() {
      return model;
    },
    accepts: (type) => type === "image/png",
  };
  const seen: number[] = [];
  const wrapped = wrapProvider(
    inner,
    (request, ask) => {
      seen.push(request.messages.length);
      return ask(request);
    },
    { contextTokens: 1000 },
  );
  model = "second";
  expect(wrapped).toMatchObject({ id: "test", model: "second", contextTokens: 1000 });
  expect([wrapped.accepts?.("image/png"), wrapped.accepts?.("image/gif")]).toEqual([true, false]);
  expect(await new Agent(wrapped).chat("Hi.")).toBe("Hello.");
  expect(seen).toEqual([1]);
});

test("answers without the wrapped provider", async () => {
  const cached = wrapProvider(scriptedProvider([]), async () => ({
    content: "Cached.",
    toolCalls: [],
    finishReason: "stop",
  }));
  expect(await new Agent(cached).chat("Hi.")).toBe("Cached.");
});
