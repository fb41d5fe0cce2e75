import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered, runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("the chat in plain lines (skipped without tmux)", () => {
  const chats = useChatTerminals();

  test.each([{ TERM: "dumb" }])("prints plain lines and no escape code with %o", async (env) => {
    const terminal = await chats.start({ env });
    const log = join(chats.folder, `raw-${Object.keys(env)[0]}`);
    terminal.record(log);
    terminal.send(runBash('echo "out \\033[2J"; exit 3'));
    const screen = await terminal.until("That is all.");
    expect(screen).toContain("executing…\n● run_bash");
    expect(screen).toContain("│ out \\x1b[2J\n└ ✗ exit code 3 · ");
    terminal.send("first\\");
    terminal.send("second");
    await answered(terminal, "first\nsecond");
    terminal.send("/stat");
    await terminal.until("There is no command");
    terminal.send("write working\\n\\");
    terminal.send("hang");
    await terminal.until(/^working$/m);
    terminal.press("C-c");
    await terminal.until("Interrupted.");
    terminal.press("C-d");
    await terminal.until("[status 0]");
    expect(existsSync(log)).toBe(true);
    expect(terminal.recorded(log)).not.toContain("\x1b");
  });

  test("names in /help the keys that work there, and no others", async () => {
    const keysOf = async (env: Record<string, string>): Promise<string> => {
      const terminal = await chats.start({ env, rows: 60 });
      terminal.send("/help");
      const help = await terminal.until(/\n {2}Enter +send[\s\S]*\n[›>]$/);
      return help.slice(help.search(/\n {2}Enter +send/));
    };
    const everywhere = /\\ at the end|Ctrl\+C|Ctrl\+D/g;
    const terminalOnly = /Alt\+Enter|Ctrl\+J|Tab|Up, Down|Esc|Ctrl\+O/g;
    const [full, plain] = [await keysOf({}), await keysOf({ TERM: "dumb" })];
    expect(new Set(full.match(everywhere)).size).toBe(3);
    expect(new Set(full.match(terminalOnly)).size).toBe(6);
    expect(new Set(plain.match(everywhere)).size).toBe(3);
    expect(plain).not.toMatch(terminalOnly);
  });

  test("asks for approval in plain lines", async () => {
    const terminal = await chats.start({ env: { TERM: "dumb", CHAT_CONFIRM: "run_bash" } });
    terminal.send(runBash("echo ran"));
    await terminal.until(/Run this command\?.*\n\?$/);
    terminal.send("what");
    await terminal.until((screen) => screen.match(/Run this command\?/g)?.length === 2);
    terminal.send("n too risky");
    await terminal.until("│ Tool call denied: too risky\n└ ✗ denied");
    terminal.send(runBash("echo ran"));
    await terminal.until((screen) => screen.match(/Run this command\?/g)?.length === 3);
    terminal.send("y");
    await terminal.until("│ ran\n└ ✓");
  });

  test("answers an open question with no at the end of the input, and ends the chat", async () => {
    const terminal = await chats.start({ env: { TERM: "dumb", CHAT_CONFIRM: "run_bash" } });
    terminal.send(runBash("echo ran"));
    await terminal.until(/Run this command\?.*\n\?$/);
    terminal.press("C-d");
    const screen = await terminal.until("[status 0]");
    expect(screen).toContain("│ Tool call denied: the user closed the question.\n└ ✗ denied");
    expect(screen).toContain("That is all.");
  });
});
