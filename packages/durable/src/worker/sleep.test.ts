import { expect, onTestFinished, test, vi } from "vitest";
import { sleep } from "./sleep.js";

// During an outage, every run of a worker waits for the same signal.
test("ends any number of waits with one signal, without a warning of Node.js", async () => {
  const onWarning = vi.fn();
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const closed = new AbortController();
  const waits = Array.from({ length: 20 }, () => sleep(600_000, closed.signal));
  await new Promise(setImmediate);
  closed.abort();
  await Promise.all([...waits, sleep(600_000, closed.signal)]);
  expect(onWarning).not.toHaveBeenCalled();
});
