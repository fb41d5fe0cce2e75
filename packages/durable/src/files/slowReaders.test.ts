import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { follow, openEngine, scripted, temporaryDirectory, workWith } from "../../test/helpers.js";
import { startRun } from "../engine/startRun.js";

const MEGABYTE = 1024 * 1024;

test("keeps a piece of a long journal for each reader that stops reading, and sends all of it to those that continue", async () => {
  const directory = temporaryDirectory();
  const engine = openEngine(directory);
  const definition = scripted(["Done."]);
  const id = await startRun(engine, definition, {});
  await workWith(engine, definition);
  await follow(engine, id);
  // Lines of all lengths, also beyond a piece, and a stretch without events.
  const lengths = Array.from({ length: 200 }, (_, index) => (index === 50 ? MEGABYTE : 100_000));
  const journal = join(directory, "runs", id, "journal.1.jsonl");
  for (const [index, length] of lengths.entries()) {
    const event = { type: "text", text: `${index} ${"x".repeat(length)}` };
    appendFileSync(journal, `${JSON.stringify({ at: 1, e: [event] })}\n`);
    if (index === 100)
      appendFileSync(journal, `${JSON.stringify({ at: 1, s: "y".repeat(1000) })}\n`.repeat(1000));
  }
  const before = process.memoryUsage().heapUsed;
  const readers = Array.from({ length: 30 }, () => engine.events(id)[Symbol.asyncIterator]());
  for (const reader of readers) expect((await reader.next()).done).toBe(false);
  // All of it would be 20 MB for each of them.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * MEGABYTE);
  for (const reader of readers) await reader.return?.();
  const seen: string[] = [];
  for await (const entry of engine.events(id)) {
    if ("event" in entry && entry.event.type === "text") seen.push(entry.event.text.split(" ")[0] ?? "");
  }
  expect(seen.slice(-lengths.length)).toEqual(lengths.map((_, index) => String(index)));
});
