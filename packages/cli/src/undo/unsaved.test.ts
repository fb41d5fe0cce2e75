import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWrites } from "../../test/describedCall.js";
import { UndoLog } from "./undoLog.js";

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
