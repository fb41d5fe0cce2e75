import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWrites } from "../../test/describedCall.js";
import { UndoLog } from "./undoLog.js";

test("reverts an edit to the file if the editor has the same text, or has not opened it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-undo-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const paths = ["saved", "closed", "link"].map((name) => join(folder, name));
  const files = paths.slice(0, 2);
  for (const path of files) writeFileSync(path, "old\n");
  symlinkSync("saved", join(folder, "link"));
  const asked: string[] = [];
  const log = new UndoLog(join(folder, "state"), folder, {
    readText: async (path: string) => {
      asked.push(basename(path));
      if (path.endsWith("closed")) throw new Error("it is not open");
      return "old\n";
    },
  });
  log.beginTurn("edit them");
  await log.before({ id: "1", describe: describeWrites(paths), capabilities: ["write"] });
  for (const path of files) writeFileSync(path, "new\n");
  await log.after("1");
  await log.endTurn();
  expect((await log.undo()).kept).toEqual([]);
  for (const path of files) expect(readFileSync(path, "utf8")).toBe("old\n");
  expect(asked).not.toContain("link");
});

test("reverts an edit to the text that was unsaved in the editor, with the line breaks of the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-undo-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "a.txt");
  writeFileSync(file, "one\r\ntwo\r\n");
  const log = new UndoLog(join(folder, "state"), folder, { readText: async () => "one\nunsaved\n" });
  log.beginTurn("edit it");
  await log.before({ id: "1", describe: describeWrites([file]), capabilities: ["write"] });
  writeFileSync(file, "ONE\r\nunsaved\r\n");
  await log.after("1");
  await log.endTurn();
  expect(await log.undo()).toMatchObject({ restored: [file], kept: [] });
  expect(readFileSync(file, "utf8")).toBe("one\r\nunsaved\r\n");
});
