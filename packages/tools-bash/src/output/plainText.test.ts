import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { leaveNoProcessBehind, makeTool, runBash, runWith } from "../../test/processes.js";
import { PlainText } from "./plainText.js";

leaveNoProcessBehind();

/** The plain text of what a command prints in these chunks. */
function plain(...chunks: readonly (string | Buffer)[]): string {
  const parts: Uint8Array[] = [];
  const text = new PlainText((bytes) => parts.push(Uint8Array.from(bytes)));
  for (const chunk of chunks) text.write(Buffer.from(chunk as string));
  text.end();
  return Buffer.concat(parts).toString("utf8");
}

describe("text for the model", () => {
  test.each([
    ["colours", "\x1b[31;1merror\x1b[0m: no\n", "error: no\n"],
    ["a title", "\x1b]0;my title\x07text\n", "text\n"],
    ["a link", "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\\n", "here\n"],
    ["cursor and mode sequences", "\x1b[?25l\x1b[2J\x1b[1;1Hx\x1b(B\x1b[m\x1bM\n", "x\n"],
    ["progress frames", "10%\r 50%\r100%\ndone\n", "100%\ndone\n"],
    ["a frame that is shorter", "downloading\rok\n", "okwnloading\n"],
    ["a frame that erases the rest", "downloading\r\x1b[Kok\n", "ok\n"],
    ["a frame that erases the line", "downloading\x1b[2K\rok\n", "ok\n"],
    ["a frame padded with blanks", "downloading\rok         \n", "ok\n"],
    ["wide characters in frames", "██░░ 50%\r████ 100%\n", "████ 100%\n"],
    ["backspaces", "abc\b\bX\n", "aXc\n"],
    ["a spinner at the end without a newline", "working |\rworking /\rdone     ", "done"],
    ["Windows line endings", "one\r\ntwo\r\n", "one\r\ntwo\r\n"],
    ["characters of private use", "\ue000 \ue001\rx\n", "x \ue001\n"],
    ["a string that never ends, which hides nothing", "\x1b]0;title\nsecret\n", "0;title\nsecret\n"],
    ["a lone escape", "a\x1b", "a"],
  ])("%s", (_, printed, expected) => {
    expect(plain(printed)).toBe(expected);
    // The same, byte by byte.
    expect(plain(...Array.from(Buffer.from(printed), (byte) => Buffer.from([byte])))).toBe(expected);
  });

  test.each([
    ["blanks before the last letter", `\r${" ".repeat(60_000)}x\n`, 60_001],
    ["erasures up to the cursor", `${"a".repeat(30_000)}\r${"\x1b[1Kb".repeat(6000)}\n`, 30_000],
    ["erasures of the line at its end", `${"a".repeat(30_000)}\b${"\x1b[2Kb".repeat(6000)}\n`, 35_999],
  ])("takes time in proportion to the length of lines made to be slow: %s", (_, line, length) => {
    const before = process.cpuUsage();
    expect(plain(line.repeat(10)).split("\n", 1)[0]).toHaveLength(length);
    const { user, system } = process.cpuUsage(before);
    // Ten such lines once took between 45 and 80 seconds.
    expect((user + system) / 1000).toBeLessThan(9000);
  });

  test("is plain for a command, while the live output and the file have every byte", async () => {
    const live: string[] = [];
    const tool = makeTool();
    const command = "printf '\\033[32mgreen\\033[0m\\n'; printf ' 1%%\\r 99%%\\r100%%\\n'";
    const result = await runWith(tool, { command }, { onOutput: (chunk) => live.push(chunk) });
    expect(result.stdout).toBe("green\n100%\n");
    expect(live.join("")).toBe("\x1b[32mgreen\x1b[0m\n 1%\r 99%\r100%\n");
    const long = await runWith(tool, { command: `${command}; seq 1 20000` });
    expect(long.stdout.startsWith("green\n100%\n1\n")).toBe(true);
    const file = readFileSync(long.truncated?.stdout?.file ?? "", "utf8");
    expect(file.startsWith("\x1b[32mgreen\x1b[0m\n 1%\r 99%\r100%\n1\n")).toBe(true);
  });

  test("has a long progress bar in one line that is not cut", async () => {
    const command = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); printf 'step %s of 20000\\r' $i; done; echo";
    const result = await runBash({ command });
    expect(result.stdout).toBe("step 20000 of 20000\n");
    expect(result).not.toHaveProperty("truncated");
  });

  test("is passed on in bounded memory for a line that never ends", () => {
    const chunk = Buffer.alloc(64 * 1024, "x\r");
    const parts: number[] = [];
    const text = new PlainText((bytes) => parts.push(bytes.length));
    for (let count = 0; count < 100; count++) text.write(chunk);
    text.end();
    expect(Math.max(...parts)).toBeLessThan(256 * 1024);
  });
});
