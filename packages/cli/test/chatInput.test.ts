import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered, runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("input in a terminal (skipped without tmux)", () => {
  const chats = useChatTerminals();

  test("starts a new line on Alt+Enter, Ctrl+J and a backslash at the end, and sends on Enter", async () => {
    const terminal = await chats.start();
    terminal.type("one");
    terminal.press("M-Enter");
    terminal.type("two");
    terminal.press("C-j");
    terminal.type("three\\");
    terminal.press("Enter");
    await terminal.until("› one\n  two\n  three");
    terminal.send("four");
    await answered(terminal, "one\ntwo\nthree\nfour");
  });

  test("takes a paste with line breaks as one input, and sends it only on Enter", async () => {
    const terminal = await chats.start();
    terminal.paste("first\nsecond\r\nthird\n");
    await terminal.until("› first\n  second\n  third");
    expect(terminal.screen()).not.toContain("You said");
    terminal.press("BSpace");
    terminal.press("Enter");
    await answered(terminal, "first\nsecond\nthird");
  });

  test("takes a paste of 200 kB whole and shows it as a few words", async () => {
    const terminal = await chats.start();
    const lines = Array.from({ length: 10_000 }, (_, index) => `pasted line ${index}`);
    terminal.paste(`say received\n${lines.join("\n")}`);
    await terminal.until(/› \[pasted 10001 lines\]$/);
    terminal.press("Enter");
    await terminal.until(/^received$/m);
    expect(terminal.scrollback()).toContain("› [pasted 10001 lines]\n");
  });

  test("moves and deletes with the keys of a shell", async () => {
    const terminal = await chats.start();
    terminal.type("alpha beta gamma");
    terminal.press("C-a");
    terminal.type("<");
    terminal.press("C-e");
    terminal.type(">");
    terminal.press("M-b");
    terminal.press("C-w"); // deletes "beta "
    terminal.press("C-k"); // deletes "gamma>"
    terminal.press("C-y");
    terminal.press("Home", "Right", "DC");
    terminal.press("End", "Left");
    terminal.type("!");
    terminal.press("Enter");
    await answered(terminal, "<lpha gamma!>");
    terminal.type("gone");
    terminal.press("C-u");
    terminal.send("kept");
    await answered(terminal, "kept");
  });

  test("edits wide characters and emoji whole, and puts the cursor where they end", async () => {
    const terminal = await chats.start();
    terminal.type("日本語 e\u0301 👍");
    await terminal.until("👍");
    expect(terminal.cursor().column).toBe(2 + 6 + 1 + 1 + 1 + 2);
    terminal.press("BSpace", "BSpace", "BSpace", "BSpace");
    terminal.type("!");
    await terminal.until(/› 日本語!$/);
    expect(terminal.cursor().column).toBe(2 + 6 + 1);
    terminal.press("Left", "Left");
    await expect.poll(() => terminal.cursor().column).toBe(2 + 4);
    terminal.press("Enter");
    await answered(terminal, "日本語!");
  });

  test("wraps a line longer than the terminal, and redraws it after a resize", async () => {
    const terminal = await chats.start({ columns: 60, rows: 20 });
    const text = Array.from({ length: 20 }, (_, index) => `word${index}`).join("-");
    terminal.send("hello");
    await answered(terminal, "hello");
    terminal.type(text);
    await terminal.until("word19");
    terminal.resize(40, 20);
    const flat = (screen: string): string => screen.replace(/\n {2}/g, "");
    await terminal.until((screen) => flat(screen).endsWith(`› ${text}`));
    terminal.resize(90, 25);
    const wide = await terminal.until((screen) => flat(screen).endsWith(`› ${text}`));
    expect(wide.match(/word0-/g)).toHaveLength(1);
    expect(wide).toContain('You said "hello".');
    terminal.press("Enter");
    await terminal.until(`You said "${text.slice(0, 20)}`);
  });

  test("works in a tiny terminal", async () => {
    const terminal = await chats.start({ columns: 26, rows: 6 });
    terminal.send(runBash("seq 50; sleep 1000"));
    await terminal.until("│ executing…");
    terminal.type("a much longer line than there are columns");
    await terminal.until("columns");
    terminal.press("Escape");
    // While the answer stops, Ctrl-C would leave.
    await terminal.until("Interrupted");
    terminal.press("C-c");
    terminal.send("hello");
    await answered(terminal, "hello");
  });

  test("keeps history across sessions, readable only by its owner and shared by several chats", async () => {
    const file = join(chats.newFolder(), "deep", "history");
    const env = { CHAT_HISTORY: file };
    const [first, second] = [await chats.start({ env }), await chats.start({ env })];
    first.paste("of the\nfirst");
    first.press("Enter");
    await answered(first, "of the\nfirst");
    second.send("of the second");
    await answered(second, "of the second");
    first.send(" not remembered");
    await answered(first, " not remembered");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe('"of the\\nfirst"\n"of the second"\n');

    const third = await chats.start({ env });
    third.type("draft");
    third.press("Up");
    await third.until("› of the second");
    third.press("Up");
    await third.until("› of the\n  first");
    third.press("Down", "Down");
    await third.until(/› draft$/);
  });

  test("completes commands, tool names and paths with Tab", async () => {
    const cwd = chats.newFolder();
    mkdirSync(join(cwd, "source"));
    writeFileSync(join(cwd, "source", "main.ts"), "");
    writeFileSync(join(cwd, "sour\u202ece.txt"), "");
    const terminal = await chats.start({ cwd });
    terminal.type("/dis");
    terminal.press("Tab");
    await terminal.until("› /disable");
    terminal.type("run");
    terminal.press("Tab");
    await terminal.until("› /disable run_bash");
    terminal.press("C-u");
    terminal.type("/s");
    await terminal.until(/❯ \/save .*\n {2}\/status /);
    terminal.press("Down", "Tab");
    await terminal.until("› /status");
    terminal.press("C-u");
    terminal.type("look at sou");
    terminal.press("Tab");
    // A name cannot turn the screen around.
    await terminal.until("source/");
    expect(terminal.screen()).toContain("sour\\u202ece.txt");
    terminal.type("ce/");
    terminal.press("Tab");
    await terminal.until("› look at source/main.ts");
  });

  test("queues a message sent while the agent works", async () => {
    const terminal = await chats.start();
    const { wait, open } = chats.gate();
    terminal.send(runBash(wait));
    await terminal.until("│ executing…");
    terminal.send("and then this");
    await terminal.until("  queued: and then this");
    expect(terminal.screen()).not.toContain("You said");
    open();
    await terminal.until("› and then this");
    await answered(terminal, "and then this");
    expect(terminal.screen()).not.toContain("queued:");
  });

  test("returns queued messages to the line on Esc", async () => {
    const terminal = await chats.start();
    terminal.send("hang");
    await terminal.until("thinking…");
    terminal.send("queued one");
    await terminal.until("queued: queued one");
    terminal.press("Escape");
    await terminal.until(/Interrupted\. [\s\S]*› queued one$/);
  });
});
