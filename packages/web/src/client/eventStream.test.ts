import { expect, onTestFinished, test, vi } from "vitest";
import { followEvents } from "./eventStream.js";

test("connects again any number of times without a warning of Node.js", async () => {
  const onWarning = vi.fn();
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const request = vi.fn(() => Promise.reject(new Error("no server")));
  const stop = followEvents({
    request,
    onEvent: () => undefined,
    onLost: () => undefined,
    onRefused: async () => undefined,
  });
  await vi.advanceTimersByTimeAsync(600_000);
  stop();
  expect(request.mock.calls.length).toBeGreaterThan(12);
  // A warning is emitted in a later turn than the one that caused it.
  await new Promise((resolve) => setImmediate(resolve));
  expect(onWarning).not.toHaveBeenCalled();
});
