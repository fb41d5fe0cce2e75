import { describe, expect, test } from "vitest";
import { renderOutput } from "./commandOutput.js";

const ESC = "\x1b";

describe("the output of a command on the screen", () => {
  test("keeps plain lines unchanged", () => {
    expect(renderOutput("one\ntwo\n\nthree", "colour")).toEqual(["one", "two", "", "three"]);
  });

  test("keeps colours and closes them on every line", () => {
    expect(renderOutput(`${ESC}[31;1mred\nstill${ESC}[0m plain`, "colour")).toEqual([
      `${ESC}[1;31mred${ESC}[0m`,
      `${ESC}[1;31mstill${ESC}[0m plain`,
    ]);
    expect(renderOutput(`${ESC}[38;5;208mo${ESC}[48;2;1;2;3mx`, "colour")).toEqual([
      `${ESC}[38;5;208mo${ESC}[0m${ESC}[38;5;208;48;2;1;2;3mx${ESC}[0m`,
    ]);
  });

  test("keeps bold without colour, and nothing in plain text", () => {
    expect(renderOutput(`${ESC}[31;1mx${ESC}[m`, "monochrome")).toEqual([`${ESC}[1mx${ESC}[0m`]);
    expect(renderOutput(`${ESC}[31;1mx${ESC}[m`, "plain")).toEqual(["x"]);
  });

  test("makes concealed, blinking and same-coloured text readable", () => {
    expect(renderOutput(`${ESC}[8msecret${ESC}[5m!`, "colour")).toEqual(["secret!"]);
    expect(renderOutput(`${ESC}[31;41mhidden`, "colour")).toEqual(["hidden"]);
    expect(renderOutput(`${ESC}[38;5;1;48;5;1mhidden`, "colour")).toEqual(["hidden"]);
  });

  test("overwrites its line on a carriage return, so that a progress bar shows its last state", () => {
    expect(renderOutput("10%\r50%\r100%\ndone", "colour")).toEqual(["100%", "done"]);
    expect(renderOutput("a long line\rshort", "colour")).toEqual(["shortg line"]);
    expect(renderOutput(`a long line\r${ESC}[Kshort`, "colour")).toEqual(["short"]);
    expect(renderOutput("one\r\ntwo\r\n", "colour")).toEqual(["one", "two", ""]);
    expect(renderOutput("abc\b\bX", "colour")).toEqual(["aXc"]);
  });

  test("moves up and overwrites for progress of several lines", () => {
    const text = `a 1%\nb 1%\n${ESC}[2A${ESC}[2Ka 100%\n${ESC}[2Kb 100%\nend`;
    expect(renderOutput(text, "colour")).toEqual(["a 100%", "b 100%", "end"]);
    expect(renderOutput(`x\ny\n${ESC}[99A${ESC}[Jz`, "colour")).toEqual(["z"]);
  });

  test("shows wide characters in two columns and never in half", () => {
    expect(renderOutput("日本\rab", "colour")).toEqual(["ab本"]);
    expect(renderOutput("日本\ra", "colour")).toEqual(["a 本"]);
    expect(renderOutput("ab\r日", "colour")).toEqual(["日"]);
  });

  test.each([
    ["a title", `${ESC}]0;pwned\x07x`],
    ["a title that ends with ST", `${ESC}]2;pwned${ESC}\\x`],
    ["a hyperlink", `${ESC}]8;;http://evil\x07x${ESC}]8;;\x07`],
    ["the clipboard", `${ESC}]52;c;ZXZpbA==\x07x`],
    ["clear-screen", `${ESC}[2Jx`],
    ["the alternate screen", `${ESC}[?1049hx`],
    ["a query", `${ESC}[6nx${ESC}[c`],
    ["a device control string", `${ESC}P$qm${ESC}\\x`],
    ["an application command", `${ESC}_Gi=1;AAAA${ESC}\\x`],
    ["a reset", `${ESC}cx`],
    ["a character set", `${ESC}(0x`],
    ["C1 controls", "\x9b2Jx\x9d0;t\x07"],
    ["a bell and shifts", "\x07\x0e\x0fx"],
    ["a scroll region", `${ESC}[1;2rx`],
    ["a private mode with m", `${ESC}[>4;2mx`],
    ["an unfinished sequence", `x${ESC}[3`],
    ["an unfinished string", `x${ESC}]0;title`],
    ["a lone escape", `x${ESC}`],
  ])("ignores %s", (_, text) => {
    expect(renderOutput(text, "colour")).toEqual(["x"]);
  });

  test("spells out characters that reorder or hide text", () => {
    expect(renderOutput("a\u202eb\u200bc", "colour")).toEqual(["a\\u202eb\\u200bc"]);
  });

  test("costs little for hostile numbers and lengths", () => {
    expect(renderOutput(`${ESC}[999999999Cx`, "colour")[0]?.length).toBeLessThan(5000);
    expect(renderOutput(`${ESC}[${"1;".repeat(100_000)}mx`, "colour")).toHaveLength(1);
    expect(renderOutput(`${ESC}]${"x".repeat(1_000_000)}`, "colour")).toEqual([""]);
    expect(renderOutput(ESC.repeat(100_000), "colour")).toEqual([""]);
    expect(renderOutput("y".repeat(10_000), "colour")).toEqual(["y".repeat(10_000)]);
  });

  test("passes only styles to the terminal, whatever a command prints", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const pieces = [
      ESC,
      "[",
      "]",
      "m",
      "K",
      "31",
      ";",
      "\r",
      "\n",
      "\x07",
      "a",
      "日",
      "\x9b",
      "?",
      "H",
      "\\",
      "P",
      "\b",
      "\t",
    ];
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: 60 }, () => pieces[random(pieces.length)]).join("");
      for (const line of renderOutput(text, "colour")) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly the styles are taken away
        expect(line.replace(/\x1b\[[0-9;]*m/g, "")).not.toMatch(/\p{Cc}/u);
      }
    }
  });
});
