import { AgentError, type ChatProvider } from "@agent/core";
import { expect, test } from "vitest";
import { waitForUsageLimit } from "./choose.js";

test.each([
  [0, 60_000],
  [Number.NaN, 60_000],
  [undefined, 60_000],
  [3, 100],
  [200, 200],
  [1e12, 2 ** 31 - 1],
])("waits for a server that answers with retryAfterMs %s for %i ms", async (retryAfterMs, delayMs) => {
  const refusing: ChatProvider = {
    model: "m",
    respond: () =>
      Promise.reject(
        new AgentError("provider_failed", "429", {
          status: 429,
          retryable: true,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        }),
      ),
  };
  const stopped = new AbortController();
  const delays: number[] = [];
  const answer = waitForUsageLimit(refusing, Number.POSITIVE_INFINITY).respond({
    messages: [],
    tools: [],
    signal: stopped.signal,
    onRetry: (retry) => {
      delays.push(retry.delayMs);
      stopped.abort();
    },
  });
  await expect(answer).rejects.toThrow();
  expect(delays).toEqual([delayMs]);
});
