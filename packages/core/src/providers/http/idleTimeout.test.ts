import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startIdleTimeout } from "./idleTimeout.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

test("ends a silent request, and waits again after anything arrives", () => {
  const idle = startIdleTimeout(100, new AbortController().signal);
  vi.advanceTimersByTime(99);
  idle.reset();
  vi.advanceTimersByTime(99);
  expect(idle.expired).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(idle.expired).toBe("the server was silent for 100 ms (timeoutMs)");
  expect(idle.signal.aborted).toBe(true);
});

test("keeps a request alive for twelve times as long with empty keep-alive data, not forever", () => {
  const idle = startIdleTimeout(100, new AbortController().signal);
  const keepAlive = (times: number): void => {
    for (let beat = 0; beat < times; beat++) {
      vi.advanceTimersByTime(50);
      idle.reset(false);
    }
  };
  keepAlive(20);
  idle.reset(true);
  keepAlive(20);
  expect(idle.expired).toBeUndefined();
  keepAlive(10);
  expect(idle.expired).toBe("the server sent nothing but keep-alive signs for 12 times 100 ms (timeoutMs)");
  expect(idle.signal.aborted).toBe(true);
});
