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

  test("shows the prompt before the provider is known, and queues what is sent meanwhile", async () => {
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

  test("restores the terminal and explains why if a chat cannot start", async () => {
    const { path, open } = chats.gate();
    const terminal = await chats.launch({ env: { CHAT_GATE: path, CHAT_BROKEN: "no such tool" } });
    open();
    await terminal.until("[status 1]");
    expect(terminal.screen()).toContain("no such tool");
    await expectRestored(terminal);
  });

  test("leaves on Ctrl-D a chat that has not started yet", async () => {
    const terminal = await chats.launch({ env: { CHAT_GATE: chats.gate().path } });
    terminal.press("C-d");
    await terminal.until("[status 0]");
    await expectRestored(terminal);
  });

  test("stops an agent created after the user left a chat that had not started, and shows nothing of it", async () => {
    const { path } = chats.gate();
    const ended = `${path}-ended`;
    const terminal = await chats.launch({ env: { CHAT_GATE: path, CHAT_ENDED: ended } });
    terminal.press("C-d");
    const screen = await terminal.until("[status 0]");
    expect(existsSync(ended)).toBe(true);
    expect(screen).not.toContain("A scripted model answers.");
    await expectRestored(terminal);
  });

  test("clears the indicator, shows the end and continues on Ctrl-C while a tool hangs", async () => {
    const terminal = await chats.start();
    terminal.send(runBash("sleep 1000"));
    await terminal.until("│ executing…");
    terminal.press("C-c");
    const screen = await terminal.until("Interrupted. What should it do instead?");
    expect(screen).toMatch(/● run_bash {2}sleep 1000\n└ ✗ exit code 137 · \d/);
    expect(screen).not.toContain("executing…");
    terminal.send("hello");
    await answered(terminal, "hello");
  });

  test("stops an answer that never comes on Esc, and keeps what was typed meanwhile", async () => {
    const terminal = await chats.start();
    terminal.send("hang");
    await terminal.until("thinking…");
    terminal.type("my next");
    terminal.press("Escape");
    await terminal.until(/Interrupted\. [\s\S]*› my next$/);
    terminal.press("Enter");
    await answered(terminal, "my next");
  });

  test("stops a long answer in its middle on Esc, and shows no more of it", async () => {
    const terminal = await chats.start();
    terminal.paste(`say ${"word ".repeat(20_000)}`);
    terminal.press("Enter");
    await terminal.until(/answering…[^›]*›$/);
    terminal.press("Escape");
    await terminal.until("Interrupted. What should it do instead?");
    terminal.send("hello");
    const screen = await terminal.until(/You said "hello"\.[\s\S]*›$/);
    expect(screen.slice(screen.indexOf("› hello"))).not.toContain("word");
  });

  test("runs nothing and continues on Ctrl-C at a question, and leaves on a second one", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash" } });
    const mark = join(chats.newFolder(), "ran");
    terminal.send(runBash(`touch ${mark}`));
    await terminal.until(/Run this command\?.*\n\?$/);
    terminal.type("n");
    await terminal.until("What should it do instead?");
    terminal.press("C-c");
    await terminal.until(/└ ✗ aborted[\s\S]*Interrupted\.[\s\S]*›$/);
    expect(existsSync(mark)).toBe(false);
    terminal.send("hello");
    await answered(terminal, "hello");
    terminal.press("C-c");
    await terminal.until("Press Ctrl+C again to quit.");
    terminal.press("C-c");
    await terminal.until("[status 130]");
    await expectRestored(terminal);
    expect(existsSync(mark)).toBe(false);
  });

  test("clears the line on Ctrl-C, and leaves with 130 on two at an empty one", async () => {
    const terminal = await chats.start();
    terminal.type("never mind");
    terminal.press("C-c");
    await terminal.until((screen) => !screen.includes("never mind"));
    terminal.press("C-c");
    await terminal.until("Press Ctrl+C again to quit.");
    terminal.type("x");
    terminal.press("BSpace");
    await terminal.until((screen) => !screen.includes("again to quit"));
    terminal.press("C-c");
    await terminal.until("Press Ctrl+C again to quit.");
    terminal.press("C-c");
    await terminal.until("left with 130\n[status 130]");
    await expectRestored(terminal);
  });

  test("leaves with 0 on Ctrl-D on an empty line, and removes the prompt", async () => {
    const terminal = await chats.start();
    terminal.send("hello");
    await terminal.until("tokens in");
    terminal.press("C-d");
    const screen = await terminal.until("[status 0]");
    expect(screen).toMatch(/1 request\nStopping job-1: npm run dev\nleft with 0\n\[status 0\]/);
    await expectRestored(terminal);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)(
    "handles %s in the middle of an answer: restores the terminal and leaves with %i",
    async (signal, status) => {
      const terminal = await chats.start();
      terminal.send(runBash("sleep 1000"));
      await terminal.until("│ executing…");
      process.kill(terminal.pid(), signal);
      await terminal.until(`[status ${status}]`);
      await expectRestored(terminal);
    },
  );

  test("restores the terminal before it reports a crash", async () => {
    const terminal = await chats.start();
    terminal.send("crash");
    await terminal.until(/Error: the program has a bug[\s\S]*\[status 1\]/);
    await expectRestored(terminal);
  });

  test("releases the terminal on Ctrl-Z, and continues on fg", async () => {
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
