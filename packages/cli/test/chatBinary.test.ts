import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";
import { hasTmux, TestTerminal } from "./terminal.js";

describe.skipIf(!hasTmux)("the agent command in a terminal (skipped without tmux)", () => {
  let terminal: TestTerminal | undefined;
  afterEach(() => terminal?.close());

  const start = async (sandbox: Sandbox, ...args: string[]): Promise<TestTerminal> => {
    const env = { HOME: sandbox.home, AGENT_LOCAL_PORTS: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    terminal = new TestTerminal([process.execPath, BIN, ...args], { cwd: sandbox.project, env });
    await terminal.until("/help lists the commands.");
    return terminal;
  };

  test("chats without a key on the first run: real tools, the real shell, a history for the next time", async () => {
    const sandbox = new Sandbox();
    sandbox.write("add.js", "export const add = (a, b) => a - b;\n");
    const chat = await start(sandbox, "--enable", "run_bash", "--mode", "auto", "--no-sandbox");
    chat.send("run echo out; exit 3");
    await chat.until(/● run_bash {2}echo out; exit 3\n│ out\n└ ✗ exit code 3 · \d/);
    chat.send('replace "a - b" with "a + b" in add.js');
    await chat.until(
      /● edit_file {2}add\.js.*\n[\s\S]*│ \d \+export const add = \(a, b\) => a \+ b;\n[\s\S]*└ ✓/,
    );
    expect(readFileSync(join(sandbox.project, "add.js"), "utf8")).toContain("a + b");
    chat.press("C-d");
    await chat.until("[status 0]");
    chat.close();

    const next = await start(sandbox);
    next.press("Up", "Up");
    await next.until("› run echo out; exit 3");
    next.press("C-c");
    next.press("C-d");
    await next.until("[status 0]");
  });

  test("stops one running command with /status end, and the answer continues", async () => {
    const chat = await start(new Sandbox(), "--enable", "run_bash", "--mode", "auto", "--no-sandbox");
    chat.send("run echo begun; sleep 1000");
    await chat.until("│ begun");
    chat.send("/status end 1");
    const screen = await chat.until(/└ ✗ [^\n]*stopped by the user/);
    expect(screen).toContain("Stopped run_bash #1. The response continues.");
    expect(screen).not.toContain("Interrupted.");
    await chat.until("You stopped the command: echo begun; sleep 1000");
    chat.press("C-d");
    await chat.until("[status 0]");
  });

  test("asks before running a tool named by --confirm", async () => {
    const chat = await start(new Sandbox(), "--enable", "run_bash", "--confirm", "run_bash");
    chat.send("run echo hello");
    await chat.until(/\? run_bash\n│ command: echo hello[\s\S]*Run this command\?/);
    chat.send("no, thanks");
    await chat.until("? no: thanks\n└ ✗ denied");
    chat.press("C-d");
    await chat.until("[status 0]");
  });
});
