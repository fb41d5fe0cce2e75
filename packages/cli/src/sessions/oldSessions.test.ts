import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation } from "@agent/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { SessionRecording } from "./sessionRecording.js";
import { newSessionFile, undoDirectory } from "./sessions.js";

const KEPT = 100;

test("keeps the changes of the last hundred sessions resumed from elsewhere, and all of their files", async () => {
  const base = mkdtempSync(join(tmpdir(), "agent-old-sessions-"));
  vi.stubEnv("XDG_STATE_HOME", base);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true, force: true });
  });
  const files = Array.from({ length: KEPT + 2 }, (_, index) => join(base, `mine-${index}.jsonl`));
  for (const [index, file] of files.entries()) {
    const undo = undoDirectory(file);
    mkdirSync(undo, { recursive: true });
    for (const path of [file, join(undo, "turns.json")]) writeFileSync(path, "");
    utimesSync(undo, index, index);
  }
  const conversation = new Conversation();
  const recording = new SessionRecording({
    conversation,
    file: newSessionFile(base),
    cwd: base,
    onProblem() {},
  });
  await recording.close();
  expect(files.map((file) => existsSync(undoDirectory(file)))).toEqual(files.map((_, index) => index >= 2));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
