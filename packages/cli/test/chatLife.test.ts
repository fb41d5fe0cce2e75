import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered, runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

describe.skipIf(!hasTmux)("the life of a chat in a terminal (skipped without tmux)", () => {
  const chats = useChatTerminals();

  /** Whatever the chat did to the terminal is undone: what is typed is shown, by line, with a cursor. */
  const expectRestored = async (terminal: TestTerminal): Promise<void> => {
    terminal.send(
      "echo fl''ags: $(stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(icanon|echo|isig|icrnl|opost)')",
    );
    const screen = await terminal.until("flags: ");
    expect(/flags: (.*)/.exec(screen)?.[1]?.split(" ").sort()).toEqual([
      "echo",
      "icanon",
      "icrnl",
      "isig",
      "opost",
    ]);
    expect(terminal.cursor().visible).toBe(true);
    terminal.send("cat -v");
    terminal.paste("pasted");
    terminal.press("Enter");
    await terminal.until(/^pasted\npasted$/m);
  };

  test("the prompt comes before who answers is known; what is sent meanwhile waits", async () => {
    const { path, open } = chats.gate();
    const terminal = await chats.launch({ env: { CHAT_GATE: path } });
    expect(terminal.screen()).not.toContain("A scripted model answers.");
    terminal.send("hello");
    terminal.send("/model");
    await terminal.until(/queued: hello\n {2}queued: \/model/);
    terminal.type("not sent");
    open();
    const screen = await answered(terminal, "hello");
    expect(screen.indexOf("A scripted model answers.")).toBeLessThan(screen.indexOf("› hello"));
    expect(screen).toContain("scripted answers.");
    expect(screen).toMatch(/› not sent$/);
    expect(screen).not.toContain("queued:");
  });

  test("a chat that cannot start gives the terminal back and says why", async () => {
    const { path, open } = chats.gate();
    const terminal = await chats.launch({ env: { CHAT_GATE: path, CHAT_BROKEN: "no such tool" } });
    open();
    await terminal.until("[status 1]");
    expect(terminal.screen()).toContain("no such tool");
    await expectRestored(terminal);
  });

  test("Ctrl-D leaves a chat that has not started yet", async () => {
    const terminal = await chats.launch({ env: { CHAT_GATE: chats.gate().path } });
    terminal.press("C-d");
    await terminal.until("[status 0]");
    await expectRestored(terminal);
  });

  test("leaving a chat that has not started yet ends an agent that is made all the same, and shows nothing of it", async () => {
    const { path } = chats.gate();
    const ended = `${path}-ended`;
    const terminal = await chats.launch({ env: { CHAT_GATE: path, CHAT_ENDED: ended } });
    terminal.press("C-d");
    const screen = await terminal.until("[status 0]");
    expect(existsSync(ended)).toBe(true);
    expect(screen).not.toContain("A scripted model answers.");
    await expectRestored(terminal);
  });

  test("Ctrl-C while a tool hangs clears the indicator, shows the end, and the chat continues", async () => {
    const terminal = await chats.start();
    terminal.send(runBash("sleep 1000"));
    await terminal.until("│ executing…");
    terminal.press("C-c");
    const screen = await terminal.until("Stopped. The conversation continues from here.");
    expect(screen).toMatch(/● run_bash {2}sleep 1000\n└ ✗ exit code 137 · \d/);
    expect(screen).not.toContain("executing…");
    terminal.send("hello");
    await answered(terminal, "hello");
  });

  test("Esc stops an answer that never comes, and what was typed meanwhile stays", async () => {
    const terminal = await chats.start();
    terminal.send("hang");
    await terminal.until("thinking…");
    terminal.type("my next");
    terminal.press("Escape");
    await terminal.until(/Stopped\. [\s\S]*› my next$/);
    terminal.press("Enter");
    await answered(terminal, "my next");
  });

  test("Esc stops a long answer in its middle: no word of it comes any more", async () => {
    const terminal = await chats.start();
    terminal.paste(`say ${"word ".repeat(20_000)}`);
    terminal.press("Enter");
    await terminal.until(/answering…[^›]*›$/);
    terminal.press("Escape");
    await terminal.until("Stopped. The conversation continues from here.");
    terminal.send("hello");
    const screen = await terminal.until(/You said "hello"\.[\s\S]*›$/);
    expect(screen.slice(screen.indexOf("› hello"))).not.toContain("word");
  });

  test("Ctrl-C at a question runs nothing, and the chat continues; again it leaves", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash" } });
    const mark = join(chats.newFolder(), "ran");
    terminal.send(runBash(`touch ${mark}`));
    await terminal.until(/Run this command\?.*\n\?$/);
    terminal.type("n");
    await terminal.until("What should it do instead?");
    terminal.press("C-c");
    await terminal.until(/└ ✗ aborted[\s\S]*Stopped\.[\s\S]*›$/);
    expect(existsSync(mark)).toBe(false);
    terminal.send("hello");
    await answered(terminal, "hello");
    terminal.press("C-c");
    await terminal.until("Press Ctrl-C again to leave.");
    terminal.press("C-c");
    await terminal.until("[status 130]");
    await expectRestored(terminal);
    expect(existsSync(mark)).toBe(false);
  });

  test("Ctrl-C clears the line; twice on an empty one it leaves with 130", async () => {
    const terminal = await chats.start();
    terminal.type("never mind");
    terminal.press("C-c");
    await terminal.until((screen) => !screen.includes("never mind"));
    terminal.press("C-c");
    await terminal.until("Press Ctrl-C again to leave.");
    terminal.type("x");
    terminal.press("BSpace");
    await terminal.until((screen) => !screen.includes("again to leave"));
    terminal.press("C-c");
    await terminal.until("Press Ctrl-C again to leave.");
    terminal.press("C-c");
    await terminal.until("left with 130\n[status 130]");
    await expectRestored(terminal);
  });

  test("Ctrl-D on an empty line leaves with 0, and the prompt is gone", async () => {
    const terminal = await chats.start();
    terminal.send("hello");
    await terminal.until("tokens in");
    terminal.press("C-d");
    const screen = await terminal.until("[status 0]");
    expect(screen).toMatch(/1 request\nEnding job-1: npm run dev\nleft with 0\n\[status 0\]/);
    await expectRestored(terminal);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)(
    "%s in the middle of an answer restores the terminal and leaves with %i",
    async (signal, status) => {
      const terminal = await chats.start();
      terminal.send(runBash("sleep 1000"));
      await terminal.until("│ executing…");
      process.kill(terminal.pid(), signal);
      await terminal.until(`[status ${status}]`);
      await expectRestored(terminal);
    },
  );

  test("a crash restores the terminal before it is reported", async () => {
    const terminal = await chats.start();
    terminal.send("crash");
    await terminal.until(/Error: the program has a bug[\s\S]*\[status 1\]/);
    await expectRestored(terminal);
  });

  test("Ctrl-Z gives the terminal back, and fg continues", async () => {
    const terminal = await chats.shell();
    terminal.send("set -m");
    terminal.send(chats.command);
    await terminal.until("/help lists the commands.");
    terminal.type("half a mess");
    await terminal.until("› half a mess");
    terminal.press("C-z");
    await terminal.until("Stopped");
    await expectRestored(terminal);
    terminal.press("C-d");
    terminal.send("fg");
    await terminal.until((screen) => screen.endsWith("› half a mess"));
    terminal.type("age");
    terminal.press("Enter");
    await answered(terminal, "half a message");
  });
});
