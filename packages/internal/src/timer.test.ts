import { expect, test } from "vitest";
import { LONGEST_TIMER_MS, withTimeout } from "./timer.js";

const never = new Promise<string>(() => undefined);

test("returns the result or the error of work that finishes in time", async () => {
  const late = (): never => expect.unreachable();
  expect(await withTimeout(Promise.resolve("done"), 10_000, late)).toBe("done");
  await expect(withTimeout(Promise.reject(new Error("broken")), 10_000, late)).rejects.toThrow("broken");
});

test("replaces work that takes too long with what onTimeout returns or throws", async () => {
  expect(await withTimeout(never, 1, () => "instead")).toBe("instead");
  const fail = (): never => {
    throw new Error("too late");
  };
  await expect(withTimeout(never, 1, fail)).rejects.toThrow("too late");
});

test("treats a time that no timer can hold as no limit", async () => {
  const soon = new Promise<string>((resolve) => setTimeout(resolve, 20, "done"));
  expect(await withTimeout(soon, LONGEST_TIMER_MS + 1, () => "instead")).toBe("done");
});

test("leaves no timer when the work has finished", async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  await withTimeout(Promise.resolve("done"), 10_000, () => "instead");
  expect(timers()).toBe(before);
});
