import { expect, test } from "vitest";
import { moveChanges } from "./moveChanges.js";
import type { UndoLog, UndoResult } from "./undoLog.js";

/** What a user reads when the log reports this. */
async function moved(direction: "undo" | "redo", result: Partial<UndoResult>) {
  const whole = { restored: [], kept: [], message: undefined, untracked: [], ...result };
  const log = { [direction]: async () => whole } as unknown as UndoLog;
  return await moveChanges(log, direction, "/project");
}

test("names the changes of a message, and how to redo them", async () => {
  expect(
    await moved("undo", { message: "fix\n the  bug", restored: ["/project/a", "/elsewhere/b\x1b"] }),
  ).toEqual({
    lines: ["Undid 2 changes from “fix the bug”:", "  a", "  /elsewhere/b\\x1b", "/redo applies them again."],
    told: "[The user reverted your changes to a, ../elsewhere/b\x1b. The files are as they were before them.]",
  });
  expect(await moved("redo", { message: "fix", restored: ["/project/a"], untracked: ["x"] })).toEqual({
    lines: ["Redid 1 change from “fix”:", "  a"],
    told: "[The user reapplied these changes: a. The files are as they were after them.]",
  });
});

test("names what was left alone and what is not tracked, and offers no redo then", async () => {
  const kept = [{ path: "/project/b", reason: "it has changed\nsince" }];
  const { lines } = await moved("undo", { message: "fix", restored: ["/project/a"], kept, untracked: ["x"] });
  expect(lines).toEqual([
    "Undid 1 change from “fix”:",
    "  a",
    "Left alone:",
    "  b: it has changed\\nsince",
    "Not tracked: x.",
  ]);
});

test("says that nothing could be reverted, and what to do next", async () => {
  const kept = [{ path: "/project/b", reason: "it has changed since" }];
  const undone = await moved("undo", { message: "fix", kept });
  expect(undone).toEqual({
    lines: [
      "Nothing could be reverted from “fix”.",
      "Left alone:",
      "  b: it has changed since",
      "/undo continues with the message before it.",
    ],
  });
  expect((await moved("redo", { message: "fix", kept })).lines).toHaveLength(3);
});

test.each([
  ["undo", [], ["Nothing to undo."]],
  ["undo", ["x"], ["Nothing to undo: no tracked file was changed.", "Not tracked: x."]],
  ["redo", ["x"], ["Nothing to redo."]],
] as const)("says that there is nothing to %s (%j)", async (direction, untracked, lines) => {
  expect(await moved(direction, { untracked })).toEqual({ lines });
});

test("lists twenty paths at most", async () => {
  const paths = Array.from({ length: 21 }, (_, index) => `/project/${index}`);
  expect((await moved("undo", { message: "m", restored: paths })).lines.at(-2)).toBe("  … and 1 more");
  expect((await moved("undo", { message: "m", restored: paths.slice(1) })).lines).toHaveLength(22);
});
