import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Gate, gateIn } from "./gate.js";
import { type TerminalOptions, TestTerminal } from "./terminal.js";

/** The message with which the scripted model runs a command. */
export function runBash(command: string): string {
  return `call run_bash ${JSON.stringify({ command })}`;
}

/** Waits for the scripted model's answer to a message that is not a script. */
export function answered(terminal: TestTerminal, message: string): Promise<string> {
  return terminal.until(`You said ${JSON.stringify(message)}.`);
}

/** The chat with its scripted agent, compiled for the tests of one file and opened in terminals. */
export function useChatTerminals() {
  const folder = join(tmpdir(), `agent-chat-${randomUUID()}`);
  const program = [process.execPath, join(folder, "chat.mjs")];
  const open: TestTerminal[] = [];
  beforeAll(() => compile(folder));
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const opened = async (terminal: TestTerminal, ready: string): Promise<TestTerminal> => {
    open.push(terminal);
    await terminal.until(ready);
    return terminal;
  };
  const newFolder = (): string => mkdtempSync(join(folder, "case-"));
  return {
    folder,
    command: program.join(" "),
    /** A new directory for one test. */
    newFolder,
    gate: (): Gate => gateIn(folder),
    /** A terminal in which the chat has started. */
    start: (options: TerminalOptions = {}) =>
      opened(new TestTerminal(program, options), "/help lists the commands."),
    /** A terminal in which the chat is being started. */
    launch: (options: TerminalOptions = {}) => opened(new TestTerminal(program, options), "›"),
    /** A terminal with a shell in it. */
    shell: () => opened(new TestTerminal(["true"]), "[status 0]"),
  };
}

async function compile(folder: string): Promise<void> {
  await build({
    entry: { chat: fileURLToPath(new URL("chatFixture.ts", import.meta.url)) },
    outDir: folder,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    noExternal: [/.*/],
    config: false,
    silent: true,
  });
}
