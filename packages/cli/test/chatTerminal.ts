import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { type TerminalOptions, TestTerminal } from "./terminal.js";

/** Compiles the chat with its scripted agent, and opens it in terminals. */
export async function chatTerminals() {
  const folder = mkdtempSync(join(tmpdir(), "agent-chat-"));
  const entry = fileURLToPath(new URL("chatFixture.ts", import.meta.url));
  await build({
    entry: { chat: entry },
    outDir: folder,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    noExternal: [/.*/],
    config: false,
    silent: true,
  });
  const open: TestTerminal[] = [];
  const program = [process.execPath, join(folder, "chat.mjs")];
  return {
    folder,
    command: program.join(" "),
    /** A terminal with a shell in it. */
    async shell(): Promise<TestTerminal> {
      const terminal = new TestTerminal(["true"]);
      open.push(terminal);
      await terminal.until("[status 0]");
      return terminal;
    },
    /** A terminal in which the chat has started. */
    async start(options: TerminalOptions = {}): Promise<TestTerminal> {
      const terminal = new TestTerminal(program, options);
      open.push(terminal);
      await terminal.until("/help lists the commands.");
      return terminal;
    },
    closeAll(): void {
      for (const terminal of open.splice(0)) terminal.close();
    },
    remove(): void {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
