import { setImmediate as nextImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { JournalEntry } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import { EventLog } from "./eventLog.js";
import { JournalWriter } from "./journalWriter.js";

const result = (key: string): JournalEntry => ({ key, kind: "result", value: null });

function setup(append = async (_: readonly JournalEntry[], __: readonly RunEvent[]): Promise<void> => {}) {
  const written: string[] = [];
  const onFault = vi.fn();
  const writer = new JournalWriter(
    new EventLog(new Map()),
    async (entries, events) => {
      written.push([...entries.map(({ key }) => key), ...events.map(({ type }) => type)].join(" "));
      await append(entries, events);
    },
    onFault,
  );
  return { writer, written, onFault };
}

test("writes a result, the answer after it and the next intent in one write", async () => {
  const { writer, written } = setup();
  writer.add(result("result"));
  writer.addEvent({ type: "text", text: "a" });
  writer.add(result("answer"));
  writer.add(result("intent"));
  await writer.settle();
  expect(written).toEqual(["result answer intent text"]);
});

test("writes an entry without anyone waiting for it", async () => {
  const { writer, written } = setup();
  writer.add(result("a"));
  await vi.waitFor(() => expect(written).toEqual(["a"]));
});

test("writes what comes after an earlier write too, entries and events", async () => {
  const { writer, written } = setup();
  for (const name of ["a", "b"]) {
    writer.add(result(name));
    await vi.waitFor(() => expect(written.at(-1)).toBe(name));
  }
  for (const count of [3, 4]) {
    writer.addEvent({ type: "notice", text: "a" });
    await vi.waitFor(() => expect(written).toHaveLength(count));
  }
});

test("writes events alone a little later, together", async () => {
  const { writer, written } = setup();
  writer.addEvent({ type: "notice", text: "a" });
  writer.addEvent({ type: "notice", text: "b" });
  await vi.waitFor(() => expect(written).toEqual(["notice notice"]));
});

test("writes follow each other: what comes while one is under way waits, and settle waits for both", async () => {
  let finish = (): void => undefined;
  const { writer, written } = setup(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  writer.add(result("a"));
  const first = writer.settle();
  await vi.waitFor(() => expect(written).toEqual(["a"]));
  writer.add(result("b"));
  const second = writer.settle();
  finish();
  await first;
  await vi.waitFor(() => expect(written).toEqual(["a", "b"]));
  finish();
  await second;
});

test("writes nothing more after a failed write, and informs every caller that settles", async () => {
  const { writer, written, onFault } = setup(() => Promise.reject(new Error("lost")));
  writer.add(result("a"));
  await vi.waitFor(() => expect(onFault).toHaveBeenCalledOnce());
  writer.add(result("b"));
  await expect(writer.settle()).rejects.toThrow("lost");
  expect(written).toEqual(["a"]);
});

test("writes many events without waiting for the time to pass", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { writer, written } = setup();
  for (let count = 0; count < 255; count++) writer.addEvent({ type: "notice", text: "a" });
  await nextImmediate();
  expect(written).toEqual([]);
  writer.addEvent({ type: "notice", text: "a" });
  await nextImmediate();
  expect(written).toHaveLength(1);
  writer.addEvent({ type: "notice", text: "a" });
  await nextImmediate();
  expect(written).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(written).toHaveLength(2);
});

test("starts no timer for an event that is not logged, and writes nothing if nothing waits", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { writer, written } = setup();
  writer.addEvent({ type: "tool_draft" } as RunEvent);
  expect(vi.getTimerCount()).toBe(0);
  await writer.settle();
  expect(written).toEqual([]);
});

test("drops what waits when it is closed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { writer, written } = setup();
  writer.add(result("a"));
  writer.addEvent({ type: "notice", text: "a" });
  writer.close();
  expect(vi.getTimerCount()).toBe(0);
  await nextImmediate();
  await writer.settle();
  expect(written).toEqual([]);
});
