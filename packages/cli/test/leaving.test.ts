import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";
import { gone, isAlive, pidIn } from "./processes.js";
import { hasTmux, TestTerminal } from "./terminal.js";

const AGENT = `'${process.execPath}' '${BIN}'`;

describe.skipIf(!hasTmux)("the built command is left in a terminal (skipped without tmux)", () => {
  let terminal: TestTerminal | undefined;
  afterEach(() => terminal?.close());

  const open = (box: Sandbox, ...command: string[]): TestTerminal => {
    const env = { HOME: box.home, AGENT_LOCAL_PORTS: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    terminal = new TestTerminal(command, { cwd: box.project, env });
    return terminal;
  };

  /** Runs a line of shell between two looks at the terminal's settings. */
  const between = (box: Sandbox, line: string): TestTerminal =>
    open(box, "sh", "-c", `trap : INT; stty -g >before; ${line}; code=$?; stty -g >after; exit $code`);
  const expectSameSettings = (box: Sandbox): void => {
    const look = (name: string): string => readFileSync(join(box.project, name), "utf8");
    expect(look("before")).not.toBe("");
    expect(look("after")).toBe(look("before"));
  };

  test("leaves with 130 on Ctrl-C at the question of a task; nothing ran, and the terminal is restored", async () => {
    const box = new Sandbox();
    const task = between(box, `${AGENT} --confirm write_file 'write a to x.txt'`);
    await task.until("[y]es, [a]lways");
    task.press("C-c");
    const screen = await task.until("[status 130]");
    expect(screen).toContain("✗ aborted");
    expect(screen).not.toContain("executing…");
    expect(existsSync(join(box.project, "x.txt"))).toBe(false);
    expectSameSettings(box);
  });

  test("stops at its time limit a run that waits for an answer", async () => {
    const box = new Sandbox();
    const task = between(box, `${AGENT} --timeout 2s --confirm write_file 'write a to x.txt'`);
    await task.until("[status 6]");
    expect(existsSync(join(box.project, "x.txt"))).toBe(false);
    expectSameSettings(box);
  });

  test("restores the terminal after agent … | head", async () => {
    const box = new Sandbox();
    box.write("big.txt", "a line\n".repeat(20_000));
    const task = between(box, `${AGENT} 'read big.txt' | head -n 1`);
    const screen = await task.until("[status 0]");
    expect(screen).not.toMatch(/EPIPE|Error/);
    expectSameSettings(box);
  });

  test("ends at its next output a chat whose reader went away", async () => {
    const box = new Sandbox();
    const chat = between(box, `${AGENT} | head -n 1`);
    const screen = await chat.until("[status 0]");
    expect(screen).not.toMatch(/EPIPE|Error/);
    expectSameSettings(box);
  });

  test("stops the agent and its running command when the window closes", async () => {
    const box = new Sandbox();
    const chat = open(box, process.execPath, BIN, "--enable", "run_bash", "--mode", "auto", "--no-sandbox");
    await chat.until("/help lists the commands.");
    chat.send("run `echo $$ > pid; trap '' HUP; sleep 600`");
    const pids = [chat.pid(), await pidIn(join(box.project, "pid"))];
    expect(pids.every(isAlive)).toBe(true);
    chat.close();
    await Promise.all(pids.map(gone));
  });
});
