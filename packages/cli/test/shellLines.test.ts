import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { gateIn } from "./gate.js";
import { isAlive, pidIn } from "./processes.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("lines with ! in the built chat (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("fails for a line whose shell cannot be started, and the chat continues", async () => {
    const { chat } = await start();
    // Node throws for this one, instead of emitting an error.
    const terminal = await chat([], { env: { SHELL: "/etc/passwd/sh" } });
    terminal.send("!echo ran");
    await terminal.until(/● ! {2}echo ran\n└ ✗ .*ENOTDIR/);
    terminal.send("hello");
    await terminal.until('You said "hello');
  });

  test("stops a line that runs next to an answer when the chat ends", async () => {
    const { box, chat } = await start();
    const terminal = await chat();
    terminal.send("hang");
    await terminal.until("thinking…");
    terminal.send("!echo $$ > pid; sleep 600");
    const pid = await pidIn(join(box.project, "pid"));
    expect(isAlive(pid)).toBe(true);
    terminal.press("C-d");
    await terminal.until("[status 0]");
    expect(isAlive(pid)).toBe(false);
  });

  test("shows a line that outlives the answer it runs next to until it ends", async () => {
    const { box, chat } = await start();
    const [answer, line] = [gateIn(box.root), gateIn(box.root)];
    const terminal = await chat();
    terminal.paste(`pause ${answer.path}\nsay It went.`);
    terminal.press("Enter");
    await terminal.until("thinking…");
    terminal.send(`!echo begun; ${line.wait}; echo over`);
    await terminal.until(/│ begun\n│ executing…/);
    answer.open();
    await terminal.until(/^It went\.$[\s\S]*tokens in/m);
    expect(terminal.scrollback()).not.toContain("no result");
    line.open();
    await terminal.until(/│ begun\n│ over\n└ ✓ exit code 0/);
    expect(terminal.scrollback().match(/● ! /g)).toHaveLength(1);
  });

  test("sends what a line printed with the next message, if its message got no answer", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    terminal.send("!echo mar''ker");
    await terminal.until("└ ✓ exit code 0");
    terminal.send("status 400 wrong");
    await terminal.until(/400[\s\S]*› status 400 wrong$/);
    expect(model.lastRequest).toContain("marker");
    terminal.press("C-u");
    terminal.send("hello");
    await terminal.until("You said");
    expect(model.lastRequest).toContain("marker");
  });
});
