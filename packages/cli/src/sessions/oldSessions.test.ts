import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Conversation } from "@agent/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { markOf } from "./openMark.js";
import { SessionRecording } from "./sessionRecording.js";
import { newSessionFile, openSession, readSessions, undoDirectory } from "./sessions.js";

const KEPT = 100;

function newStateDirectory(): string {
  const base = mkdtempSync(join(tmpdir(), "agent-old-sessions-"));
  vi.stubEnv("XDG_STATE_HOME", base);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true, force: true });
  });
  return base;
}

function record(base: string, file: string, ...messages: readonly string[]): SessionRecording {
  const conversation = new Conversation();
  const recording = new SessionRecording({ conversation, file, cwd: base, onProblem: expect.unreachable });
  for (const content of messages) conversation.append({ role: "user", content });
  return recording;
}

test("keeps the changes of the last hundred sessions resumed from elsewhere, and all of their files", async () => {
  const base = newStateDirectory();
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

test.runIf(existsSync("/proc"))(
  "keeps a session that a window has open while many others are used",
  async () => {
    const base = newStateDirectory();
    const [used, open, closed] = ["0a", "0b", "0c"].map((end) =>
      join(dirname(newSessionFile(base)), `20200101-000000-00${end}.jsonl`),
    ) as [string, string, string];
    const recording = record(base, used, "hello");
    for (const file of [open, closed]) await record(base, file, "hello").close();
    for (let index = 0; index < KEPT; index++) {
      const name = `20210101-000000-${String(index).padStart(4, "0")}.jsonl`;
      writeFileSync(join(dirname(used), name), readFileSync(closed));
    }
    for (const file of [used, open, closed]) utimesSync(file, 1, 1);
    const parent = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
    const startedAt = parent.slice(parent.lastIndexOf(")") + 2).split(" ")[19];
    writeFileSync(markOf(open), JSON.stringify({ pid: process.ppid, startedAt }));
    await recording.close();
    expect([used, open, closed].map((file) => existsSync(file))).toEqual([true, true, false]);
  },
);

test("lists and resumes no session in which nothing is said, such as the copy of /rewind to the first message", async () => {
  const base = newStateDirectory();
  const file = newSessionFile(base);
  const conversation = new Conversation();
  const recording = new SessionRecording({ conversation, file, cwd: base, onProblem: expect.unreachable });
  conversation.append({ role: "user", content: "hello" });
  const [first] = conversation.sessionContext;
  const copy = await recording.copyBefore((first && conversation.infoOf(first).id) ?? "");
  utimesSync(copy.file, Date.now(), Date.now());
  expect(copy.session.messages).toEqual([]);
  expect((await readSessions(base)).map(({ info }) => info.file)).toEqual([file]);
  expect((await openSession(base, true)).file).toBe(file);
  await recording.close();
});
