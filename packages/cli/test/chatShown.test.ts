import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { gateIn } from "./gate.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

const FAMILY = "👨‍👩‍👧";
const edit = (path: string, old_text: string, new_text: string): string =>
  `call edit_file ${JSON.stringify({ path, old_text, new_text })}`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours
const COLOR = /\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m/;

describe.skipIf(!hasTmux)("what the built chat shows (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("shows real tables, syntax colours, marked words and whole emoji in an answer", async () => {
    const { box, chat } = await start();
    const answer = [
      `| name | n |\\n|---|--:|\\n| 日本 ${FAMILY} | 5 |\\n| b | 12 |\\n`,
      "\\n```ts\\nconst a = 1; // why\\n```\\n",
      "_it_, __bold__, ~~struck~~ and snake_case_name",
    ].join("");
    box.write(".agent/commands/show.md", `say ${answer}`);
    const terminal = await chat();
    const written = recorded(box, terminal);
    terminal.send("/show");
    const screen = await terminal.until(/snake_case_name\n.*tokens in/);
    expect(screen).toContain(
      ["│ name    │  n │", "├─────────┼────┤", `│ 日本 ${FAMILY} │  5 │`, "│ b       │ 12 │"].join("\n"),
    );
    await expect.poll(written).toContain("snake_case_name");
    expect(written()).toContain("\x1b[35mconst\x1b[39m a = \x1b[33m1\x1b[39m; \x1b[2m// why");
    for (const marked of ["\x1b[3mit\x1b", "\x1b[1mbold\x1b", "\x1b[9mstruck\x1b"])
      expect(written()).toContain(marked);
  });

  test("colours an edit where its line changed, wraps what is wider than the window, and shows all on Ctrl+O", async () => {
    const { box, chat } = await start();
    const long = Array.from({ length: 12 }, (_, index) => `word${index}`).join(" ");
    box.write("a.ts", `const port = 3000;\n${long}\n`);
    const terminal = await chat([], { columns: 50 });
    const written = recorded(box, terminal);
    terminal.send(edit("a.ts", "port = 3000", "port = 8080"));
    await terminal.until("That is all.");
    await expect.poll(written).toContain("\x1b[31m1 -const port = \x1b[7m3000\x1b[27m;");
    expect(written()).toContain("\x1b[32m1 +const port = \x1b[7m8080\x1b[27m;");
    terminal.send(edit("a.ts", "word11", "the-end"));
    const wrapped = await terminal.until(/the-end\n└ ✓/);
    // Rows end between words, and the next one begins right of the sign.
    expect(wrapped.replaceAll("\n│    ", " ")).toContain(`│ 2 -${long}\n│ 2 +`);
    const path = `${"deep/".repeat(20)}missing.txt`;
    terminal.send(`call read_file ${JSON.stringify({ path })}`);
    const failed = await terminal.until(/└ ✗ failed/);
    expect(failed.replace(/\n(│ | *)/g, "")).toMatch(new RegExp(`Error executing read_file: .*${path}`));
    const lines = Array.from({ length: 30 }, (_, index) => `new ${index}\n`).join("");
    terminal.send(`call write_file ${JSON.stringify({ path: "new.txt", content: lines })}`);
    await terminal.until(/│ +1 \+new 0\n(│ .*\n){9}│ … \+20 lines \(ctrl\+o expands\)\n└ ✓/);
    terminal.press("C-o");
    await terminal.until(/│ 29 \+new 28\n│ 30 \+new 29\n└ ✓/);
  });

  test("breaks a line of a diff between words, next to wide characters, and inside what is longer than a row", async () => {
    const { box, chat } = await start();
    box.write("a.txt", "");
    const terminal = await chat([], { columns: 40 });
    const token = "x".repeat(50);
    const content = `日本語の文章は空白がないので、文字の間で行を変える。 👍🏽👍 end\nsee ${token} there\n`;
    terminal.send(`call write_file ${JSON.stringify({ path: "a.txt", content })}`);
    await terminal.until(/ there\n└ ✓ \+2 ·/);
    expect(terminal.screen()).toContain(
      [
        "│ 1 +日本語の文章は空白がないので、文",
        "│    字の間で行を変える。 👍🏽👍 end",
        `│ 2 +see ${"x".repeat(29)}`,
        `│    ${"x".repeat(21)} there`,
        "└ ✓ +2",
      ].join("\n"),
    );
  });

  test("shows a command's colours and progress, makes the rest harmless, and sends the model clean text", async () => {
    const { box, chat, model } = await start();
    const { wait, open } = gateIn(box.root);
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(
      runBash(
        `printf '\\033]0;title\\007\\033[2J10%%\\r50%%'; ${wait}; printf '\\r\\033[32m100%%\\033[0m\\n'`,
      ),
    );
    await terminal.until(/│ 50%\n│ executing…/);
    open();
    const screen = await terminal.until("That is all.");
    expect(screen).toMatch(/│ 100%\n└ ✓ exit code 0/);
    expect(terminal.coloredScreen()).toContain("\x1b[32m100%");
    expect(terminal.format("#{pane_title}")).not.toBe("title");
    expect(model.requests.at(-1)?.at(-1)?.content).toContain('"stdout":"100%\\n"');
  });

  test("shows more of the end of a failed command: the reason is often above the last lines", async () => {
    const { chat } = await start();
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    terminal.send(runBash("seq 1 30"));
    await terminal.until(/│ … \+25 lines \(ctrl\+o expands\)\n│ 26\n(│ .*\n){4}└ ✓/);
    terminal.send(runBash("seq 1 30; exit 1"));
    await terminal.until(/│ … \+18 lines \(ctrl\+o expands\)\n│ 19\n(│ .*\n){11}└ ✗ exit code 1/);
  });

  test("removes colour and nothing else with NO_COLOR", async () => {
    const { box, chat } = await start();
    box.write("a.txt", "const a = 1;\n");
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"], {
      env: { NO_COLOR: "1" },
    });
    const written = recorded(box, terminal);
    terminal.paste(
      [runBash("printf '\\033[1;31mred\\033[0m\\n'"), edit("a.txt", "1", "2"), "then say **bold**"].join(
        "\n",
      ),
    );
    terminal.press("Enter");
    await terminal.until(
      /│ red\n└ ✓[\s\S]*│ 1 -const a = 1;\n│ 1 \+const a = 2;[\s\S]*\*\*bold\*\*\n.*tokens in/,
    );
    await expect.poll(written).toContain("\x1b[1mbold");
    expect(written()).not.toMatch(COLOR);
    for (const kept of ["\x1b[1mred", "1 -const a = \x1b[7m1", "\x1b[?2026h"])
      expect(written()).toContain(kept);
  });
});

/** Reads what the program has written since, byte for byte: tmux has codes of its own for what it shows. */
function recorded(box: Sandbox, terminal: TestTerminal): () => string {
  const file = join(box.root, "bytes");
  writeFileSync(file, "");
  terminal.record(file);
  return () => terminal.recorded(file);
}
