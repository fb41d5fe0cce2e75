import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { History } from "./history.js";
import { HistorySearch } from "./historySearch.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "history-"));
  file = join(folder, "history");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function all(history: History): string[] {
  const entries: string[] = [];
  for (let entry = history.older(""); entry !== undefined; entry = history.older("")) entries.unshift(entry);
  return entries;
}

describe("History", () => {
  test("skips lines it cannot read and never continues half a line", () => {
    writeFileSync(file, '"good"\n{"not": "text"}\nrubbish\n"cut o');
    const history = new History(file);
    history.add("next");
    expect(all(new History(file))).toEqual(["good", "next"]);
  });

  test("closes a file to others who could read it", () => {
    writeFileSync(file, '"old"\n');
    chmodSync(file, 0o644);
    new History(file).add("new");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is bounded in memory and in the file", async () => {
    writeFileSync(file, Array.from({ length: 2500 }, (_, index) => `"entry ${index}"\n`).join(""));
    expect(all(new History(file))).toHaveLength(1000);
    await expect.poll(() => readFileSync(file, "utf8").split("\n").length).toBe(1001);
    expect(readFileSync(file, "utf8")).toMatch(/"entry 2499"\n$/);
  });

  test("works without a file, and where none can be written", () => {
    for (const path of [undefined, join(file, "below", "a", "file")]) {
      writeFileSync(file, "");
      const history = new History(path);
      history.add("one");
      expect(history.older("draft")).toBe("one");
      expect(history.newer()).toBe("draft");
    }
  });

  test("keeps every entry whole if many chats add at the same time", () => {
    const chats = Array.from({ length: 20 }, () => new History(file));
    for (let round = 0; round < 10; round++) {
      for (const [index, chat] of chats.entries()) chat.add(`${index}:${round} ${"x".repeat(5000)}`);
    }
    expect(all(new History(file))).toHaveLength(200);
  });
});

test("erases an emoji of a search whole", () => {
  const search = new HistorySearch(new History(undefined), "");
  search.type("a👍🏽");
  search.erase();
  expect(search.prompt).toBe('nothing found "a": ');
});
