import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import type { ApprovalRequest } from "@agent/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import type { ChatController } from "./controller.js";
import { TerminalChat } from "./terminalChat.js";

// Longer than the pause after which a user is no longer typing.
const PAUSE_MS = 600;

/** What the clock of the chat shows. */
let now = 0;
let chat: TerminalChat;
let keyboard: PassThrough;
let sent: string[];
let queued: string | undefined;
let isBusy: boolean;

beforeEach(() => {
  now = 10_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  keyboard = new PassThrough();
  sent = [];
  queued = undefined;
  const output = Object.assign(new PassThrough(), { columns: 80, rows: 24, getColorDepth: () => 8 });
  output.resume();
  const input = Object.assign(keyboard, { setRawMode: () => undefined, isTTY: true });
  const places = { historyFile: undefined, mentions: { cwd: process.cwd() } };
  chat = new TerminalChat(places, input as unknown as ReadStream, output as unknown as WriteStream, {
    ...PLAIN_STYLE,
  });
  isBusy = true;
  chat.open({
    get busy() {
      return isBusy;
    },
    submit: (text: string) => sent.push(text),
    commandItems: () => [],
    mentionSources: () => [],
    takeBackQueued: () => queued,
  } as unknown as ChatController);
});

afterEach(() => {
  chat.close();
  vi.restoreAllMocks();
});

function type(...keys: string[]): void {
  for (const key of keys) keyboard.emit("data", Buffer.from(key));
}

function ask() {
  const request = {
    id: "1",
    name: "run",
    args: {},
    description: { title: "run", needs: [] },
    signal: new AbortController().signal,
  } as unknown as ApprovalRequest;
  return chat.view.ask(request, []);
}

const PLAN = ["yes, accept edits", "no"].map((value) => ({ value, label: value }));

const isPending = async (answer: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([answer, Promise.resolve("pending")])) === "pending";

test.each([
  ["to a search of earlier input", {}, ["\x12"], "ma"],
  // The second escape character ends the wait for the rest of the first one's sequence.
  ["to the normal mode of vi", { vim: true }, ["make", "\x1b", "\x1b[A"], "w"],
])("does not take a key as an answer that belongs %s", async (_, options, before, last) => {
  chat.configure(options);
  type(...before);
  now += PAUSE_MS;
  type(last);
  const answer = ask();
  type("y");
  expect(await isPending(answer)).toBe(true);
  now += PAUSE_MS;
  type("y");
  expect(await answer).toBe("allow");
});

test("names the keys of a question on Enter, which answers nothing", async () => {
  const answer = ask();
  const hint = vi.spyOn(chat.view, "hint");
  type("\r");
  expect(hint).toHaveBeenLastCalledWith(["Press one of the keys above."]);
  expect(await isPending(answer)).toBe(true);
  type("y");
  expect(await answer).toBe("allow");
});

test("does not take a key as an answer that filters a list", async () => {
  const chosen = chat.view.pick("Which model", PLAN);
  type("n");
  const answer = ask();
  type("y");
  expect(await isPending(answer)).toBe(true);
  now += PAUSE_MS;
  type("y");
  expect(await answer).toBe("allow");
  expect(chat.view.editor.text).toBe("ny");
  type("\x7f", "\r");
  expect(await chosen).toBe("no");
});

test("takes what is typed right after a choice for the next list", async () => {
  const first = chat.view.pick("Name", [], { takesText: true });
  type("Ada", "\r");
  expect(await first).toBe("Ada");
  const second = chat.view.pick("Choose", PLAN);
  type("no", "\r");
  expect(await second).toBe("no");
});

test("keeps what is typed when a list opens for the line, and lets Enter choose nothing", async () => {
  type("please do not");
  const answer = chat.view.pick("Carry out this plan?", PLAN, { takesText: true });
  type(" change", "\r", " it", "\r");
  expect(await isPending(answer)).toBe(true);
  expect([chat.view.editor.text, sent]).toEqual(["", []]);
  now += PAUSE_MS;
  type("\x1b[B", "\r");
  expect(await answer).toBe("no");
  expect(chat.view.editor.text).toBe("please do not change it");
});

test("ignores Enter right after a list has replaced a line with text", async () => {
  type("run the tests");
  now += PAUSE_MS;
  const answer = chat.view.pick("Carry out this plan?", PLAN);
  type("\r");
  expect(await isPending(answer)).toBe(true);
  now += PAUSE_MS;
  type("\r");
  expect(await answer).toBe("yes, accept edits");
});

test("filters a list immediately if it opened after the line was sent", async () => {
  type("/resume", "\r");
  const answer = chat.view.pick("Resume a session", PLAN);
  type("n", "o", "\r");
  expect([await answer, sent]).toEqual(["no", ["/resume"]]);
});

test("sends what is typed into a list of choices, or the choice that is selected below it", async () => {
  const typed = chat.view.pick("Carry out this plan?", PLAN, { takesText: true });
  type("yes");
  expect(chat.view.menu?.items.map(({ label }) => label)).toEqual(["as typed: yes", "yes, accept edits"]);
  type("\r");
  expect(await typed).toBe("yes");
  const chosen = chat.view.pick("Carry out this plan?", PLAN, { takesText: true });
  type("yes", "\x1b[B", "\r");
  expect(await chosen).toBe("yes, accept edits");
  const same = chat.view.pick("Carry out this plan?", PLAN, { takesText: true });
  type("NO", "\r");
  expect(await same).toBe("no");
});

test("takes no earlier input and no queued message into the reason for a refusal", async () => {
  queued = "a queued message";
  const answer = ask();
  type("n", "\x1b[A", "use npm", "\x12", "\t", " ci", "\r");
  expect(await answer).toEqual({ deny: "use npm ci" });
  type("next");
  expect(chat.view.editor.text).toBe("next");
});

test.each([false, true])(
  "answers no with Esc to a background agent that asks while no message is answered; vim %s",
  async (vim) => {
    chat.configure({ vim });
    isBusy = false;
    const answer = ask();
    type("\x1b");
    expect(await answer).toEqual({ deny: "the user said no." });
  },
);
