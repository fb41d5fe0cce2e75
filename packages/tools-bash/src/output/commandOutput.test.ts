import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { LiveOutput } from "./commandOutput.js";

function collect() {
  const chunks: string[] = [];
  return { chunks, live: new LiveOutput((chunk) => chunks.push(chunk)) };
}

test("shows the first output immediately, and what follows together a little later", async () => {
  const { chunks, live } = collect();
  live.write("stdout", Buffer.from("a"));
  live.write("stdout", Buffer.from("b"));
  live.write("stderr", Buffer.from("c"));
  expect(chunks).toEqual(["a"]);
  while (chunks.length < 2) await delay(5);
  expect(chunks).toEqual(["a", "bc"]);
  live.finish();
});

test("shows a character split between two chunks whole, also with the other stream between", () => {
  const { chunks, live } = collect();
  const bytes = Buffer.from("😀é");
  live.write("stdout", bytes.subarray(0, 2));
  live.write("stderr", Buffer.from("x"));
  live.write("stdout", bytes.subarray(2, 5));
  live.write("stdout", bytes.subarray(5));
  live.finish();
  expect(chunks.join("")).toBe("x😀é");
});

test("shows the newest part of a flood and reports how much it left out", () => {
  const { chunks, live } = collect();
  live.write("stdout", Buffer.from("start"));
  for (let i = 0; i < 100; i++) live.write("stdout", Buffer.alloc(65_536, "x"));
  for (let i = 0; i < 100; i++) live.write("stdout", Buffer.from("y".repeat(1000)));
  live.finish();
  const shown = chunks.join("");
  expect(shown.startsWith("start")).toBe(true);
  expect(shown.length).toBeLessThan(17_000);
  const skipped = Number(/\[… (\d+) bytes not shown\]/.exec(shown)?.[1]);
  expect(skipped + 16 * 1024).toBe(100 * 65_536 + 100_000);
});

test("sends no more to a display that throws, and nothing else happens", () => {
  let calls = 0;
  const live = new LiveOutput(() => {
    calls++;
    throw new Error("the display broke");
  });
  live.write("stdout", Buffer.from("a"));
  live.write("stdout", Buffer.from("b"));
  live.finish();
  expect(calls).toBe(1);
});

test("allows the caller to reuse a chunk after passing it", () => {
  const { chunks, live } = collect();
  const lent = Buffer.from("first");
  live.write("stdout", lent);
  live.write("stdout", lent);
  lent.fill("x");
  live.finish();
  expect(chunks.join("")).toBe("firstfirst");
});
