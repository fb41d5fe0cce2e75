import { expect, test } from "vitest";
import { NoticeQueue } from "./queues.js";

const noop = (): void => undefined;

test("joins notices of the same source into one", () => {
  const queue = new NoticeQueue(noop);
  queue.add({ source: "job-1", text: "a" });
  queue.add({ source: "job-2", text: "b" });
  queue.add({ source: "job-1", text: "c" });
  expect([queue.next(), queue.next(), queue.next()]).toEqual([
    { source: "job-1", text: "a\n\nc" },
    { source: "job-2", text: "b" },
    undefined,
  ]);
});

test("gives a source one turn a minute", () => {
  let time = 0;
  const queue = new NoticeQueue(noop, () => time);
  queue.add({ source: "job-1", text: "a" });
  expect(queue.next()?.text).toBe("a");
  queue.add({ source: "job-1", text: "b" });
  time = 59_999;
  expect(queue.next()).toBeUndefined();
  time = 60_000;
  expect(queue.next()?.text).toBe("b");
});

test("stops after twenty turns until the user writes", () => {
  const queue = new NoticeQueue(noop);
  for (let n = 0; n < 25; n++) queue.add({ source: `job-${n}`, text: "x" });
  const taken = Array.from({ length: 25 }, () => queue.next()).filter((one) => one !== undefined);
  expect(taken).toHaveLength(20);
  queue.userWrote();
  expect(queue.next()?.source).toBe("job-20");
});

test("bounds what a pack can make it keep", () => {
  const queue = new NoticeQueue(noop);
  for (let n = 0; n < 1000; n++) queue.add({ source: "job-1", text: "x".repeat(10_000) });
  expect(queue.next()?.text.length).toBeLessThan(100_000);
});
