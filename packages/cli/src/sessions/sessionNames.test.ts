import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatProvider, Conversation } from "@agent/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { searchSessions } from "./searchSessions.js";
import { SessionNames } from "./sessionNames.js";
import { SessionRecording } from "./sessionRecording.js";
import { deleteSession, idOf, listSessions, nameFile, newSessionFile, openSession } from "./sessions.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "agent-names-"));
  vi.stubEnv("XDG_STATE_HOME", base);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

/** A kept session, and the names of its chat. The model answers with `answer`, or fails without one. */
function newSession(answer?: string) {
  const conversation = new Conversation();
  const file = newSessionFile(base);
  const recording = new SessionRecording({ conversation, file, cwd: base, onProblem: expect.unreachable });
  const asked: string[] = [];
  const model: ChatProvider = {
    respond: async ({ messages }) => {
      asked.push(String(messages.at(-1)?.content));
      if (answer === undefined) throw new Error("no");
      const usage = { inputTokens: 10, outputTokens: 2 };
      return { content: answer, toolCalls: [], finishReason: "stop", usage };
    },
  };
  const names = new SessionNames({ conversation, model });
  const say = async (text: string): Promise<void> => {
    const naming = names.nameAfter(file, text);
    conversation.append({ role: "user", content: text });
    conversation.append({ role: "assistant", content: `You said ${text}` });
    await naming;
  };
  return { conversation, file, recording, names, asked, say };
}

test("names a session after its first message, once, and counts what that took", async () => {
  const { conversation, file, recording, names, asked, say } = newSession('  "Fix the\tlogin." \nBecause');
  const named = vi.fn();
  names.onNamed = named;
  await say("The login fails after a time-out");
  await say("And now?");
  expect(asked).toEqual(["The login fails after a time-out"]);
  expect(names.nameOf(file)).toBe("Fix the login");
  expect(named).toHaveBeenCalledOnce();
  expect(conversation.spending.tokens).toBe(12);
  await recording.close();
  expect(await listSessions(base)).toMatchObject([
    { name: "Fix the login", title: expect.stringMatching(/^The/) },
  ]);
  expect((await openSession(base, "fix the LOGIN")).file).toBe(file);
  deleteSession(idOf(file));
  expect(existsSync(nameFile(file))).toBe(false);
});

test("keeps the name that the user gave, and survives a model that fails", async () => {
  const failing = newSession();
  await failing.say("hello");
  expect(failing.names.nameOf(failing.file)).toBeUndefined();
  await failing.names.set(failing.file, "Mine");
  const { file, names, asked, say } = newSession("Other");
  await names.set(file, "My name");
  await say("hello");
  expect([names.nameOf(file), asked]).toEqual(["My name", []]);
  await expect(names.set(file, '"**"')).rejects.toThrow("at least one letter");
  expect(names.nameOf(file)).toBe("My name");
});

test("forgets the name of a session in which nothing was said", async () => {
  const { file, names } = newSession();
  await names.set(file, "Unused");
  names.close();
  expect(existsSync(nameFile(file))).toBe(false);
});

test("finds sessions by words that were said, by their name and by their id", async () => {
  const first = newSession("Bananas");
  await first.say("How long do apples\nstay fresh?");
  const second = newSession();
  await second.say("Write a parser for dates");
  const search = async (...words: string[]) => (await searchSessions(base, words)).map(({ file }) => file);
  expect(await search("apples", "FRESH")).toEqual([first.file]);
  expect(await search("banana")).toEqual([first.file]);
  expect(await search("you", "said")).toHaveLength(2);
  expect(await search(idOf(second.file))).toEqual([second.file]);
  expect(await search("apples", "parser")).toEqual([]);
  expect((await searchSessions(base, ["dates"]))[0]?.match).toBe("Write a parser for dates");
});
