import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered, runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

// Clipboard, link, title, device control, clear screen, cursor up, C1 CSI, carriage return, backspace.
const ATTACKS = ["\x1b]52;c;cHduZWQ=\x07", "\x1b]8;;http://evil\x1b\\", "\x1b]0;title\x07", "\x1bP1$r\x1b\\"];
const MOVES = ["\x1b[2J", "\x1b[5A", "\x9b2J", "\rover", "\b\b\b"];
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes this chat writes itself
const OWN_CODES = /\x1b\[(\?(2004|2026|25)[hl]|\d*(;\d+)*[mABCDJK]|H)/g;

describe.skipIf(!hasTmux)("what reaches the terminal (skipped without tmux)", () => {
  const chats = useChatTerminals();

  const asEscapes = (text: string): string =>
    [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

  /** What was written meanwhile that the chat does not write by itself. */
  const foreignCodes = async (terminal: TestTerminal, talk: () => Promise<void>): Promise<string[]> => {
    const file = join(chats.newFolder(), "bytes");
    terminal.record(file);
    await talk();
    terminal.send("say the end");
    await terminal.until(/^the end$/m);
    await expect.poll(() => terminal.recorded(file)).toContain("the end");
    const rest = terminal.recorded(file).replace(OWN_CODES, "");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    return rest.match(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g) ?? [];
  };

  /** Sends each message when the one before it was answered, on its own screen. */
  const sendAll = async (terminal: TestTerminal, messages: readonly string[]): Promise<void> => {
    for (const message of messages) {
      terminal.paste(message);
      terminal.press("Enter");
      await terminal.until(/tokens in[^›]*›$/);
      terminal.press("C-l");
      await terminal.until(/^\n*›$/);
    }
  };

  test("ignores control sequences in tool output, except for colours and overwriting a line", async () => {
    const terminal = await chats.start();
    const printed = [...ATTACKS, ...MOVES].map((attack) => `${JSON.stringify(asOctal(attack))}`);
    const commands = printed.map((text) => runBash(`printf '%b' ${text}; sleep 0.05; exit 1`));
    expect(await foreignCodes(terminal, () => sendAll(terminal, commands))).toEqual([]);
    terminal.send(runBash("printf '10%%\\r\\033[32m100%%\\033[0m\\n'"));
    await terminal.until("│ 100%\n└ ✓");
    expect(terminal.coloredScreen()).toContain("\x1b[32m100%");
    expect(terminal.format("#{pane_title}")).not.toBe("title");
  });

  test("ignores control sequences in the command, the answer, an error and the name of a tool", async () => {
    const terminal = await chats.start();
    const attacks = [...ATTACKS, ...MOVES];
    const messages = [
      ...attacks.map((attack) => runBash(`true ${attack}`)),
      ...attacks.map((attack) => `say before ${asEscapes(attack)} after`),
      `call bad${ATTACKS[2]}name {}`,
    ];
    expect(await foreignCodes(terminal, () => sendAll(terminal, messages))).toEqual([]);
    terminal.send(`say ${asEscapes("\u202ereversed\u202c")}`);
    await terminal.until("\\u202ereversed\\u202c");
  });

  test("ignores control sequences in an error of the provider and of a tool", async () => {
    const terminal = await chats.start();
    const foreign = await foreignCodes(terminal, async () => {
      terminal.send(`fail broken ${[...ATTACKS, ...MOVES].map(asEscapes).join("")} provider`);
      await terminal.until(/^The provider failed: broken [\s\S]*provider$/m);
      terminal.press("C-u");
      terminal.send(`call edit_file {"path":5,"${ATTACKS.map(asEscapes).join("")}":1}`);
      await terminal.until("└ ✗");
    });
    expect(foreign).toEqual([]);
  });

  test("breaks the question between words in a narrow terminal", async () => {
    const terminal = await chats.start({ columns: 40, rows: 12, env: { CHAT_CONFIRM: "run_bash" } });
    terminal.send(runBash("true"));
    await terminal.until(/Run this command\? y yes · n no · a\nalways… · esc stops/);
  });

  test("runs a call that asks only after yes, and sends no to the model with its reason", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash" } });
    const mark = join(chats.newFolder(), "ran");
    terminal.send(runBash(`touch ${mark}; echo done`));
    await terminal.until(/Run this command\? y yes · n no/);
    expect(terminal.screen()).not.toContain("● run_bash");
    terminal.type("yeah, why not");
    await terminal.until("Press one of the keys");
    expect(existsSync(mark)).toBe(false);
    terminal.press("n");
    await terminal.until("What should it do instead?");
    terminal.press("Escape");
    await terminal.until(/Run this command\?/);
    terminal.send("n, not that file");
    const screen = await terminal.until("That is all.");
    expect(screen).toContain("? no: not that file\n└ ✗ denied");
    expect(existsSync(mark)).toBe(false);
    terminal.send(runBash(`touch ${mark}`));
    await terminal.until(/Run this command\?/);
    // Terminals can send several letters together.
    terminal.send("no force push please");
    await terminal.until("? no force push please\n└ ✗ denied");
    expect(existsSync(mark)).toBe(false);

    terminal.send(runBash(`touch ${mark}; echo done`));
    await terminal.until(/Run this command\?/);
    terminal.press("y");
    await terminal.until("│ done\n└ ✓ exit code 0");
    expect(existsSync(mark)).toBe(true);
  });

  test("applies always to this chat and this tool", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash,edit_file" } });
    terminal.paste([runBash("echo first"), runBash("echo second")].join("\n"));
    terminal.press("Enter");
    await terminal.until(/Run this command\?/);
    terminal.press("a");
    await terminal.until(
      /Always allow · in this session .*\n {2}1 exactly this call\n {2}2 echo first \*\n {2}3 every call of run_bash/,
    );
    terminal.press("3");
    await terminal.until("│ second\n└ ✓");
    terminal.send(runBash("echo third"));
    await terminal.until("│ third\n└ ✓");
    expect(terminal.scrollback().match(/^\? run_bash$/gm)).toHaveLength(1);
    terminal.send('call edit_file {"path":"x"}');
    await terminal.until("? edit_file\n│ path: x");
  });

  test("spells out invisible and reordering characters in requests for approval", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash" } });
    terminal.paste(runBash("echo safe \u202e#mr\u200b -rf\nrm -rf build\tx\u0007"));
    terminal.press("Enter");
    const screen = await terminal.until(/Run this command\?/);
    expect(screen).toContain("│ command: echo safe \\u202e#mr\\u200b -rf\n│   rm -rf build");
    expect(screen).toContain("x\\x07");
  });

  test("shows a long command in full before it asks", async () => {
    const terminal = await chats.start({ rows: 20, env: { CHAT_CONFIRM: "run_bash" } });
    const lines = Array.from({ length: 80 }, (_, index) => `echo line ${index}`);
    terminal.paste(runBash(lines.join("\n")));
    terminal.press("Enter");
    await terminal.until(/Run this command\?/);
    const text = terminal.scrollback();
    for (const line of lines) expect(text).toMatch(new RegExp(`^│ (command:|  ) ?${line}$`, "m"));
  });

  test("keeps what was being typed when a question came, and runs nothing on Esc", async () => {
    const terminal = await chats.start({ env: { CHAT_CONFIRM: "run_bash" } });
    const mark = join(chats.newFolder(), "ran");
    const { path, open } = chats.gate();
    terminal.paste(`pause ${path}\n${runBash(`touch ${mark}`)}`);
    terminal.press("Enter");
    await terminal.until("thinking…");
    terminal.type("yes");
    await terminal.until(/› yes$/);
    open();
    await terminal.until(/Run this command\?.*\n\?$/);
    terminal.press("Enter");
    terminal.press("Escape");
    await terminal.until(/└ ✗ aborted[\s\S]*Interrupted\.[\s\S]*› yes$/);
    expect(existsSync(mark)).toBe(false);
    terminal.press("Enter");
    await answered(terminal, "yes");
  });
});

/** As `printf '%b'` wants it, so that the attack is in the output and not in the command. */
function asOctal(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("");
}
