import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation, loadSession } from "@agent/core";
import type { CommandContext } from "@agent/terminal/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { describeWrites } from "../../../test/describedCall.js";
import { SessionNames } from "../../sessions/sessionNames.js";
import { SessionRecording } from "../../sessions/sessionRecording.js";
import { newSessionFile, undoDirectory } from "../../sessions/sessions.js";
import { UndoLog } from "../../undo/undoLog.js";
import { rewind } from "./rewind.js";

let base: string;
let project: string;
let conversation: Conversation;
let recording: SessionRecording;
let log: UndoLog;
let names: SessionNames;
let isBusy: boolean;

beforeEach(() => {
  isBusy = false;
  base = mkdtempSync(join(tmpdir(), "agent-rewind-"));
  project = join(base, "project");
  mkdirSync(project);
  vi.stubEnv("XDG_STATE_HOME", join(base, "state"));
  conversation = new Conversation();
  const file = newSessionFile(project);
  recording = new SessionRecording({ conversation, file, cwd: project, onProblem: expect.unreachable });
  log = new UndoLog(undoDirectory(file), project);
  names = new SessionNames({ conversation, model: undefined });
  conversation.onChange((change) => {
    if (change.type === "message" && change.message.role === "user")
      log.noteMessage(change.id ?? "", String(change.message.content));
  });
});
afterEach(async () => {
  await recording.close();
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

const at = (name: string): string => join(project, name);
const texts = (): unknown[] => conversation.sessionContext.map(({ content }) => content);

/** A message that writes a file, as a tool does. */
async function message(text: string, file?: string, steering?: string): Promise<void> {
  log.beginTurn(text);
  conversation.append({ role: "user", content: text });
  if (file !== undefined) await write(file, text);
  if (steering !== undefined) {
    conversation.append({ role: "user", content: steering });
    await write(`${file}.steered`, steering);
  }
  conversation.append({ role: "assistant", content: `done: ${text}` });
  await log.endTurn();
}

async function write(file: string, text: string): Promise<void> {
  await log.before({ id: file, capabilities: ["write"], describe: describeWrites([file], project) });
  writeFileSync(at(file), text);
  await log.after(file);
}

/** Rewinds with these choices, each by the start of its label, and reports what was offered and done. */
async function rewindTo(...choices: string[]) {
  const offered: string[] = [];
  const [returned, told]: [string[], string[]] = [[], []];
  const context = {
    agent: { conversation },
    busy: () => isBusy,
    usage: { forgetSize: () => undefined },
    tellModel: (text: string) => told.push(text),
    view: {
      giveBack: (text: string) => returned.push(text),
      pick: async (_title: string, items: readonly { value: string; label: string; detail?: string }[]) => {
        offered.push(...items.map(({ label, detail }) => `${label}: ${detail}`));
        const choice = choices.shift() ?? "";
        return choice === "" ? undefined : items.find(({ label }) => label.startsWith(choice))?.value;
      },
    },
  } as unknown as CommandContext;
  const lines = await rewind({ recording, names, undo: () => log }, context);
  return { lines, offered, returned, told };
}

test("goes back with the files, keeps the original session, and returns the message to the line", async () => {
  writeFileSync(at("a.txt"), "old");
  await message("first");
  await message("second", "a.txt");
  await message("third", "b.txt");
  const [original, originalUndo] = [recording.file, undoDirectory(recording.file)];
  const { lines, offered, returned, told } = await rewindTo("second", "conversation and files");
  expect(offered).toEqual([
    expect.stringMatching(/^third: changed .*b\.txt · /),
    expect.stringMatching(/^second: changed .*a\.txt · /),
    expect.stringMatching(/^first: no file changed · /),
    expect.stringMatching(/^conversation and files: reverts .*a\.txt, .*b\.txt$/),
    "conversation only: the files stay as they are",
  ]);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("old");
  expect(existsSync(at("b.txt"))).toBe(false);
  expect([returned, told]).toEqual([["second"], []]);
  expect(texts()).toEqual(["first", "done: first"]);
  expect(lines.join("\n")).toMatch(/Reverted 2 files:[\s\S]*\/resume \S+, and \/redo there for its files$/);

  // The copy is on the disk immediately, and the original has all of it, files included.
  expect((await loadSession(recording.file)).messages).toHaveLength(2);
  expect((await loadSession(original)).messages).toHaveLength(6);
  const old = new UndoLog(originalUndo, project);
  await old.redo();
  await old.redo();
  expect(readFileSync(at("b.txt"), "utf8")).toBe("third");
});

test("goes back without the files, tells the model, and can still undo them", async () => {
  await message("first", "a.txt");
  const { lines, told } = await rewindTo("first", "conversation only");
  expect(lines).toContain("The files stay as they are.");
  expect(told.join()).toContain("a.txt");
  expect(texts()).toEqual([]);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("first");
  const copy = new UndoLog(undoDirectory(recording.file), project);
  await copy.undo();
  expect(existsSync(at("a.txt"))).toBe(false);
});

test("leaves a file alone that was changed since, and says so to both", async () => {
  await message("first", "a.txt");
  writeFileSync(at("a.txt"), "mine");
  const { lines, told } = await rewindTo("first", "conversation and files");
  expect(readFileSync(at("a.txt"), "utf8")).toBe("mine");
  expect(lines.join("\n")).toMatch(/Left alone:\n.*a\.txt: it has changed since/);
  expect(told.join()).toContain("a.txt");
});

test("goes back to a message that steered an answer, without what came before it", async () => {
  await message("first", "a.txt", "rather so");
  await rewindTo("rather so", "conversation and files");
  expect(texts()).toEqual(["first"]);
  expect([existsSync(at("a.txt")), existsSync(at("a.txt.steered"))]).toEqual([true, false]);
});

test.each([[[""]], [["first", ""]]])("changes nothing if the user closes the list (%j)", async (choices) => {
  await message("first", "a.txt");
  const { file } = recording;
  expect((await rewindTo(...choices)).lines).toEqual([]);
  expect([texts().length, recording.file, existsSync(at("a.txt"))]).toEqual([2, file, true]);
});

test("reverts what a notice changed together with the message before it", async () => {
  await message("first");
  log.beginTurn("A job has ended.");
  conversation.append({ role: "user", content: "A job has ended.", from: "jobs" });
  await write("b.txt", "by the notice");
  conversation.append({ role: "assistant", content: "done" });
  await log.endTurn();
  const { offered } = await rewindTo("first", "conversation and files");
  expect(offered[0]).toMatch(/^first: changed .*b\.txt · /);
  expect([texts(), existsSync(at("b.txt"))]).toEqual([[], false]);
});

test("changes nothing if an answer has begun while the list was open", async () => {
  await message("first", "a.txt");
  isBusy = true;
  const { file } = recording;
  expect((await rewindTo("first", "conversation and files")).lines.join()).toMatch(/answer/);
  expect([texts().length, recording.file, existsSync(at("a.txt"))]).toEqual([2, file, true]);
});

test("goes back to a message from before a compaction, with the conversation as it was then", async () => {
  await message("first", "a.txt");
  await message("second", "b.txt");
  await message("third");
  conversation.addSpending({ tokens: 7, cost: 1 });
  conversation.replace(0, 4, [{ role: "user", content: "A summary.", generated: true }]);
  await message("fourth");
  const { offered, returned } = await rewindTo("second", "conversation and files");
  expect(offered.map((line) => line.split(":")[0])).toEqual([
    "fourth",
    "third",
    "second",
    "first",
    "conversation and files",
    "conversation only",
  ]);
  expect([texts(), returned]).toEqual([["first", "done: first"], ["second"]]);
  expect([existsSync(at("a.txt")), existsSync(at("b.txt"))]).toEqual([true, false]);
  await message("another way");
  const saved = await loadSession(recording.file);
  expect(saved.messages.map(({ content }) => content)).toEqual(texts());
  expect(saved.spending).toEqual({ tokens: 7, cost: 1 });
});

test("keeps an earlier summary when it goes back to between two compactions", async () => {
  await message("first");
  conversation.replace(0, 2, [{ role: "user", content: "The first summary.", generated: true }]);
  await message("second");
  await message("third");
  conversation.replace(0, 5, [{ role: "user", content: "The second summary.", generated: true }]);
  await rewindTo("third");
  expect(texts()).toEqual(["The first summary.", "second", "done: second"]);
});
