import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packSource } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { gateIn } from "./gate.js";
import { hasTmux } from "./terminal.js";

const write = (path: string, content: string): string =>
  `call write_file ${JSON.stringify({ path, content })}`;

describe.skipIf(!hasTmux)("work in the built chat (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("shows a replaced file as a diff, reverts it with /undo and names what changed since", async () => {
    const { box, chat } = await start();
    const textOf = (name: string): string => readFileSync(join(box.project, name), "utf8");
    box.write("a.txt", "one\ntwo\n");
    box.write("b.txt", "old\n");
    const terminal = await chat();
    terminal.paste(`${write("a.txt", "one\n2\n")}\n${write("b.txt", "new\n")}\n${write("c.txt", "fresh\n")}`);
    terminal.press("Enter");
    const screen = await terminal.until("That is all.");
    expect(screen).toContain("│ 1  one\n│ 2 -two\n│ 2 +2\n└ ✓");
    expect(screen).toContain("│ 1 +fresh\n└ ✓");
    box.write("b.txt", "mine\n");
    terminal.send("/undo");
    await terminal.until(
      /Undid 2 changes[\s\S]*a\.txt\n {2}c\.txt\nLeft alone:\n {2}b\.txt: it has changed since/,
    );
    expect([textOf("a.txt"), textOf("b.txt")]).toEqual(["one\ntwo\n", "mine\n"]);
    expect(existsSync(join(box.project, "c.txt"))).toBe(false);
    terminal.send("/redo");
    await terminal.until("Redid 2 changes");
    expect([textOf("a.txt"), textOf("c.txt")]).toEqual(["one\n2\n", "fresh\n"]);
  });

  test("switches the mode on Shift+Tab: plan removes the tools, ask asks before an edit with its diff", async () => {
    const { box, chat } = await start();
    box.write("a.txt", "old\n");
    const terminal = await chat();
    expect(terminal.status()).toMatch(/^accept edits \(shift\+tab\).*scripted/);
    const mode = () => expect.poll(() => terminal.status(), { timeout: 60_000 });
    terminal.press("BTab");
    await mode().toBe("auto (shift+tab) – asks only if the configuration requires it");
    terminal.press("BTab");
    await mode().toBe("plan (shift+tab) – only tools that read are available; nothing can be changed");
    terminal.send(write("a.txt", "new\n"));
    await terminal.until("└ ✗ not available");
    expect(terminal.status()).toMatch(/^plan \(shift\+tab\) · .*scripted/);
    terminal.press("BTab");
    await mode().toMatch(/^ask .* – asks before/);
    terminal.send(write("a.txt", "new\n"));
    await terminal.until(
      /\? write_file\n│ path: a\.txt\n│ 1 -old\n│ 1 \+new[\s\S]*Apply this edit to a\.txt\? y yes/,
    );
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("old\n");
    terminal.press("y");
    await terminal.until(/│ 1 \+new\n\? yes\n└ ✓ \+1 −1 · \d.*\(ctrl\+o expands\)\n\nThat is all/);
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("new\n");
    // The switches left nothing in the conversation, and the diff is in it once, until it is asked for.
    expect(terminal.scrollback()).not.toContain("only tools that read");
    expect(terminal.scrollback().match(/^│ 1 \+new$/gm)).toHaveLength(1);
    terminal.press("C-o");
    await terminal.until(/● write_file {2}a\.txt\n│ 1 -old\n│ 1 \+new\n└ ✓ \+1 −1/);
  });

  test("refuses an edit of a file that changed while the user was deciding", async () => {
    const { box, chat } = await start();
    box.write("a.txt", "old\nmore\n");
    const terminal = await chat(["--confirm", "edit_file"]);
    terminal.send(`call edit_file ${JSON.stringify({ path: "a.txt", old_text: "old", new_text: "new" })}`);
    await terminal.until(/│ 1 \+new\n│ 2 {2}more\n[\s\S]*Apply this edit/);
    box.write("a.txt", "old\nother\n");
    terminal.press("y");
    await terminal.until(/was changed after the user was shown/);
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("old\nother\n");
  });

  test("keeps what is allowed for the project in the next chat until it is revoked", async () => {
    const { box, chat } = await start();
    // Not a command that only reads: those need no rule.
    box.write("run", '#!/bin/sh\necho "$@"\n');
    chmodSync(join(box.project, "run"), 0o755);
    const flags = ["--enable", "run_bash", "--confirm", "run_bash"];
    const first = await chat(flags);
    first.send(runBash("./run one"));
    await first.until(/Run this command\?/);
    first.press("a");
    await first.until("Always allow · in this session");
    first.press("Tab");
    await first.until(
      /Always allow · in this project.*\n {2}1 exactly this call\n {2}2 \.\/run one \*\n {2}3 every call of run_bash/,
    );
    first.press("2");
    await first.until(/\? always in this project: run_bash\(\.\/run one \*\)\n[\s\S]*│ one\n└ ✓/);
    first.press("C-d");
    await first.until("[status 0]");
    const next = await chat(flags);
    next.send(runBash("./run one again"));
    await next.until("│ one again\n└ ✓");
    next.send("/permissions");
    await next.until(/1 {2}run_bash\(\.\/run one \*\) {2}in this project/);
    next.send("/permissions revoke 1");
    await next.until("asks again from now on.");
    next.send(runBash("./run three"));
    await next.until(/Run this command\?/);
  });

  test("steers the answer with a message sent while it works, and sends the model what a line with ! printed", async () => {
    const { box, chat, model } = await start();
    const { wait, open } = gateIn(box.root);
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash(wait));
    await terminal.until("executing…");
    terminal.send("and be quick");
    await terminal.until("queued: and be quick");
    open();
    await terminal.until('You said "and be quick".');
    // It came with the result of the command, within the turn.
    expect(model.requests).toHaveLength(2);
    expect(terminal.screen()).not.toContain("queued:");
    terminal.send("!printf '\\033[32mgreen\\033[0m\\n'");
    await terminal.until(/● ! {2}printf.*\n│ green\n└ ✓ exit code 0/);
    expect(terminal.coloredScreen()).toContain("\x1b[32mgreen");
    terminal.send("hello");
    await terminal.until(/You said .*The user ran this command/s);
    // Without the colours.
    expect(model.lastRequest).toContain("<output>\\ngreen\\n</output>");
  });

  test("always shows what it does: the call being written, a rate limit, reasoning folded", async () => {
    const { box, chat } = await start();
    const gate = gateIn(box.root);
    const terminal = await chat();
    const send = (...steps: string[]): void => {
      terminal.paste(steps.join("\n"));
      terminal.press("Enter");
    };
    send('draft write_file {"path":"src/a.ts","content":"x', "hang");
    await terminal.until(/writing write_file src\/a\.ts… \d/);
    terminal.press("Escape");
    await terminal.until("Interrupted.");
    send("limit 50");
    // The countdown is the only time.
    await terminal.until(/^attempt 2 in \d+s \(429 Too many requests\)… · esc stops$/m);
    terminal.press("Escape");
    await terminal.until((screen) => screen.match(/Interrupted\./g)?.length === 2);
    send("think first I look", `pause ${gate.path}`, "say done");
    await terminal.until("∴ first I look");
    gate.open();
    await terminal.until(/∴ thought for .* \(ctrl\+o expands\)/);
    terminal.press("C-o");
    await terminal.until(/Thought for .*\n {2}first I look/);
  });

  test("calls stay in the order they were asked for, and each read takes one row", async () => {
    const { box, chat } = await start();
    const gate = gateIn(box.root);
    const wait = `const { existsSync } = await import("node:fs"); while (!existsSync(${JSON.stringify(gate.path)})) await new Promise((resolve) => setTimeout(resolve, 20));`;
    box.write("slow.mjs", packSource("slow", `${wait} return "at last";`));
    box.write("quick.mjs", packSource("quick"));
    const packs = ["@agent/preset-default", "./slow.mjs", "./quick.mjs"];
    box.write("agent.config.json", JSON.stringify({ packs }));
    for (const name of ["a", "b", "c"]) box.write(`${name}.txt`, `text of ${name}\n`);
    const terminal = await chat(["--trust"]);
    terminal.paste("call slow {}\ncall quick {}");
    terminal.press("Enter");
    await terminal.until(/● slow\n│ executing….*\n● quick ✓/);
    gate.open();
    await terminal.until(/● slow ✓.*\n● quick ✓.*\n\nThat is all\./);
    terminal.paste(["a", "b", "c"].map((name) => `call read_file {"path":"${name}.txt"}`).join("\n"));
    terminal.press("Enter");
    await terminal.until(
      /● read_file {2}a\.txt \(1 line\)\n● read_file {2}b\.txt \(1 line\)\n● read_file {2}c\.txt/,
    );
  });

  test("sends a large paste whole, finds a message with Ctrl+R, undoes an edit with Ctrl+_, opens $EDITOR with Ctrl+G", async () => {
    const { box, chat, model } = await start();
    const editor = join(box.root, "edit");
    writeFileSync(editor, '#!/bin/sh\necho "say edited" > "$1"\n');
    chmodSync(editor, 0o755);
    const terminal = await chat([], { env: { EDITOR: editor, VISUAL: "" } });
    terminal.paste(`say first\n${"a line\n".repeat(4999)}`);
    await terminal.until("› [pasted 5000 lines]");
    terminal.press("BSpace");
    await terminal.until(/›$/);
    terminal.press("C-_");
    await terminal.until("› [pasted 5000 lines]");
    terminal.press("Enter");
    await terminal.until(/^first$/m);
    expect(model.lastRequest.match(/a line/g)).toHaveLength(4999);
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
    terminal.press("C-g");
    await terminal.until(/› say edited$/);
    terminal.press("Enter");
    await terminal.until(/^edited$/m);
  });

  test("returns a message that cannot be sent with its paste, and sends all of it later", async () => {
    const { box, chat, model } = await start();
    writeFileSync(join(box.project, "a.bin"), Buffer.from([1, 0, 2]));
    const terminal = await chat();
    terminal.paste("a line\n".repeat(5000));
    await terminal.until("› [pasted 5000 lines]");
    terminal.type("@a.bin ");
    terminal.press("Enter");
    await terminal.until(/@a\.bin is a binary file[\s\S]*› \[pasted 5000 lines\]@a\.bin$/);
    terminal.press(...Array.from("@a.bin ", () => "BSpace"));
    await terminal.until(/› \[pasted 5000 lines\]$/);
    terminal.press("Enter");
    await expect.poll(() => model.lastRequest.match(/a line/g)?.length).toBe(5000);
  });

  test("leaves the terminal to $EDITOR while an answer is written, also after Ctrl+C in it", async () => {
    const { box, chat } = await start();
    const [answer, edited] = [gateIn(box.root), gateIn(box.root)];
    const editor = join(box.root, "edit");
    writeFileSync(
      editor,
      `#!/bin/sh\ntrap 'echo interrupted' INT\necho editing\n${edited.wait}\necho "say edited" > "$1"\n`,
    );
    chmodSync(editor, 0o755);
    const terminal = await chat([], { env: { EDITOR: editor, VISUAL: "" } });
    terminal.paste(`write one \npause ${answer.path}\nsay two`);
    terminal.press("Enter");
    await terminal.until("esc stops");
    terminal.press("C-g");
    await terminal.until(/^editing$/m);
    terminal.press("C-c");
    await terminal.until(/^\S*interrupted$/m);
    answer.open();
    expect(terminal.screen()).not.toContain("esc stops");
    edited.open();
    await terminal.until(/^one two$[\s\S]*› say edited$/m);
    expect(terminal.screen()).toMatch(/editing\n\S*interrupted\n/);
    terminal.press("Enter");
    await terminal.until(/^edited$/m);
  });

  test("completes files with @ and attaches their content, and lists the commands with /", async () => {
    const { box, chat, model } = await start();
    mkdirSync(join(box.project, "src"));
    box.write("src/needle.ts", "alpha\nbeta\ngamma\n");
    const terminal = await chat();
    terminal.type("look at @");
    await terminal.until(/❯ src\/\n {2}src\/needle\.ts/);
    terminal.type("nee");
    await terminal.until("❯ src/needle.ts");
    terminal.press("Tab");
    await terminal.until("› look at @src/needle.ts");
    terminal.type(":2-3");
    await terminal.until(/› look at @src\/needle\.ts:2-3$/);
    terminal.press("Enter");
    await terminal.until("attached: src/needle.ts (lines 2-3)");
    await terminal.until(/You said .*beta/s);
    expect(model.lastRequest).toContain("beta\\ngamma");
    expect(model.lastRequest).not.toContain("alpha");
    terminal.type("/und");
    await terminal.until(/❯ \/undo +revert/);
    terminal.press("Enter");
    await terminal.until("Nothing to undo.");
  });
});
