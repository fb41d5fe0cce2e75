import { expect, test } from "vitest";
import { notifiesBy, showsProgress, TerminalSignals } from "./terminalSignals.js";

function recorded() {
  const written: string[] = [];
  return { signals: new TerminalSignals((text) => written.push(text)), taken: () => written.splice(0) };
}

test("sets the title once, and gives the terminal its own back while another program has it", () => {
  const { signals, taken } = recorded();
  signals.title("one\x1b]2;evil\x07\n");
  signals.title("one\x1b]2;evil\x07\n");
  expect(taken()).toEqual(["\x1b[22;2t", "\x1b]2;one\\x1b]2;evil\\x07\\n\x1b\\"]);
  signals.leave();
  expect(taken()).toEqual(["\x1b[23;2t"]);
  // An answer may end meanwhile.
  signals.title("two");
  signals.progress(true);
  expect(taken()).toEqual([]);
  signals.resume();
  expect(taken()).toEqual(["\x1b[22;2t\x1b]2;two\x1b\\", "\x1b]9;4;3\x1b\\"]);
});

test("shows progress only when it changes, and ends it when the terminal is left", () => {
  const { signals, taken } = recorded();
  signals.progress(false);
  signals.progress(true);
  signals.progress(true);
  expect(taken()).toEqual(["\x1b]9;4;3\x1b\\"]);
  signals.leave();
  expect(taken()).toEqual(["\x1b]9;4;0\x1b\\"]);
  signals.resume();
  signals.progress(false);
  expect(taken()).toEqual(["\x1b]9;4;3\x1b\\", "\x1b]9;4;0\x1b\\"]);
});

test.each([
  ["bell", "\x07"],
  ["osc9", "\x1b]9;agent: a;b done\x1b\\"],
  ["osc777", "\x1b]777;notify;agent;agent: a,b done\x1b\\"],
] as const)("notifies by %s", (by, code) => {
  const { signals, taken } = recorded();
  signals.notify("a;b done", by);
  expect(taken()).toEqual([code]);
});

test("copies what fits, and nothing else", () => {
  const { signals, taken } = recorded();
  expect(signals.copy("héllo")).toBe(true);
  expect(taken()).toEqual([`\x1b]52;c;${Buffer.from("héllo").toString("base64")}\x1b\\`]);
  expect(signals.copy("x".repeat(80_000))).toBe(false);
  expect(taken()).toEqual([]);
});

test("knows terminals that show messages and progress, and that tmux passes neither on", () => {
  expect(notifiesBy({ TERM_PROGRAM: "WezTerm" })).toBe("osc9");
  expect(notifiesBy({ TERM: "foot" })).toBe("osc777");
  expect(notifiesBy({ TERM: "xterm-256color" })).toBe("bell");
  expect(showsProgress({ WT_SESSION: "1" })).toBe(true);
  expect(showsProgress({ TERM_PROGRAM: "iTerm.app" })).toBe(false);
  expect([notifiesBy({ TERM: "foot", TMUX: "x" }), showsProgress({ WT_SESSION: "1", TMUX: "x" })]).toEqual([
    "bell",
    false,
  ]);
});
