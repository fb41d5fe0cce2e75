import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

const write = (path: string, content: string): string =>
  `call write_file ${JSON.stringify({ path, content })}`;

describe.skipIf(!hasTmux)("work in the chat (skipped without tmux)", () => {
  const chats = useChatTerminals();

  test("a file that is replaced is shown as a diff, /undo takes it back and names what changed since", async () => {
    const cwd = chats.newFolder();
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    writeFileSync(join(cwd, "b.txt"), "old\n");
    const terminal = await chats.start({ cwd });
    terminal.paste(`${write("a.txt", "one\n2\n")}\n${write("b.txt", "new\n")}\n${write("c.txt", "fresh\n")}`);
    terminal.press("Enter");
    const screen = await terminal.until("That is all.");
    expect(screen).toContain("│  one\n│ -two\n│ +2\n└ ✓");
    expect(screen).toContain("│ +fresh\n└ ✓");
    writeFileSync(join(cwd, "b.txt"), "mine\n");
    terminal.send("/undo");
    await terminal.until(
      /Took back 2 changes[\s\S]*a\.txt\n {2}c\.txt\nLeft alone:\n {2}b\.txt: it has changed since/,
    );
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("mine\n");
    expect(existsSync(join(cwd, "c.txt"))).toBe(false);
    terminal.send("/redo");
    await terminal.until("Made again 2 changes");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n2\n");
  });

  test("Shift+Tab switches the mode: plan takes the tools away, ask asks before an edit with its diff", async () => {
    const cwd = chats.newFolder();
    writeFileSync(join(cwd, "a.txt"), "old\n");
    const terminal = await chats.start({ cwd });
    expect(terminal.status()).toMatch(/^auto \(shift\+tab\).*scripted/);
    terminal.press("BTab");
    await terminal.until("Mode: plan");
    expect(terminal.status()).toMatch(/^plan /);
    terminal.send(write("a.txt", "new\n"));
    await terminal.until("└ ✗ not available");
    terminal.press("BTab");
    await terminal.until("Mode: ask");
    terminal.send(write("a.txt", "new\n"));
    await terminal.until(
      /\? write_file wants to run with\n│ path: a\.txt\n│ @@ -1,1 \+1,1 @@\n│ -old\n│ \+new[\s\S]*Run it\?/,
    );
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("old\n");
    terminal.press("y");
    await terminal.until("└ ✓");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("new\n");
  });

  test("what is allowed for the project holds in the next chat until it is revoked", async () => {
    const env = { CHAT_CONFIRM: "run_bash", CHAT_STATE: chats.newFolder() };
    const cwd = chats.newFolder();
    const first = await chats.start({ env, cwd });
    first.send(runBash("echo one"));
    await first.until(/Run it\?/);
    first.press("a");
    await first.until("Always, in this session");
    first.press("Tab");
    await first.until("Always, in this project");
    first.press("2");
    await first.until("│ one\n└ ✓");
    first.press("C-d");
    await first.until("[status 0]");
    const next = await chats.start({ env, cwd });
    next.send(runBash("echo one again"));
    await next.until("│ one again\n└ ✓");
    next.send("/permissions");
    await next.until(/1 {2}run_bash\(echo one \*\) {2}in this project/);
    next.send("/permissions revoke 1");
    await next.until("is asked again.");
    next.send(runBash("echo three"));
    await next.until(/Run it\?/);
  });

  test("a message sent while it works steers the answer", async () => {
    const terminal = await chats.start();
    const { wait, open } = chats.gate();
    terminal.send(runBash(wait));
    await terminal.until("executing…");
    terminal.send("and be quick");
    await terminal.until("queued: and be quick");
    open();
    await terminal.until(/› and be quick/);
    await terminal.until((screen) => !screen.includes("queued:"));
  });

  test("! runs a line with its colours and tells the model with the next message", async () => {
    const terminal = await chats.start();
    terminal.send("!printf '\\033[32mgreen\\033[0m\\n'");
    await terminal.until("● !  printf");
    await terminal.until("│ green\n└ ✓ exit code 0");
    expect(terminal.coloredScreen()).toContain("\x1b[32mgreen");
    terminal.send("hello");
    await terminal.until(/You said .*The person ran this command/s);
  });

  test("what it does is always shown: the call being written, a rate limit, reasoning folded", async () => {
    const terminal = await chats.start();
    const gates = [chats.gate(), chats.gate(), chats.gate()];
    terminal.paste(
      [
        'draft write_file {"path":"src/a.ts","content":"x',
        `pause ${gates[0]?.path}`,
        "wait 60000",
        `pause ${gates[1]?.path}`,
        "think first I look",
        `pause ${gates[2]?.path}`,
        "say done",
      ].join("\n"),
    );
    terminal.press("Enter");
    await terminal.until(/writing write_file src\/a\.ts… \d/);
    gates[0]?.open();
    await terminal.until(/rate limited · attempt 2 in \d+s… /);
    gates[1]?.open();
    await terminal.until("∴ first I look");
    gates[2]?.open();
    await terminal.until(/∴ thought for .* \(ctrl\+o expands\)/);
    terminal.press("C-o");
    await terminal.until(/Thought for .*\n {2}first I look/);
  });

  test("a large paste collapses and is sent whole; Ctrl+R finds it, Ctrl+_ takes an edit back", async () => {
    const terminal = await chats.start({ env: { CHAT_HISTORY: join(chats.newFolder(), "history") } });
    terminal.paste("say first\n".repeat(40));
    await terminal.until("› [pasted 41 lines]");
    terminal.press("BSpace");
    await terminal.until(/›$/);
    terminal.send("say needle");
    await terminal.until(/^needle$/m);
    terminal.press("C-r");
    terminal.type("nee");
    await terminal.until(/search "nee": say needle/);
    terminal.press("Escape");
    await terminal.until(/› say needle$/);
    terminal.press("C-u");
    await terminal.until(/›$/);
    terminal.press("C-_");
    await terminal.until(/› say needle$/);
  });

  test("Ctrl+G opens the person's editor", async () => {
    const folder = chats.newFolder();
    const editor = join(folder, "edit");
    writeFileSync(editor, '#!/bin/sh\necho "say edited" > "$1"\n');
    chmodSync(editor, 0o755);
    const terminal = await chats.start({ env: { EDITOR: editor, VISUAL: "" } });
    terminal.type("draft");
    terminal.press("C-g");
    await terminal.until(/› say edited$/);
    terminal.press("Enter");
    await terminal.until(/^edited$/m);
  });

  test("@ completes files and attaches their content; / lists the commands", async () => {
    const cwd = chats.newFolder();
    mkdirSync(join(cwd, "src"));
    writeFileSync(join(cwd, "src/needle.ts"), "alpha\nbeta\ngamma\n");
    const terminal = await chats.start({ cwd });
    terminal.type("look at @nee");
    await terminal.until("❯ src/needle.ts");
    terminal.press("Tab");
    await terminal.until("› look at @src/needle.ts");
    terminal.press("BSpace");
    terminal.type(":2-3");
    terminal.press("Enter");
    await terminal.until("attached: src/needle.ts (lines 2-3)");
    await terminal.until(/You said .*beta/s);
    terminal.type("/und");
    await terminal.until(/❯ \/undo +take back/);
    terminal.press("Enter");
    await terminal.until("No message changed a file.");
  });
});
