import { describe, expect, test } from "vitest";
import { COLOR_STYLE, PLAIN_STYLE } from "../text/style.js";
import { hangingIndent, MARKDOWN_START, type MarkdownState, renderMarkdownLine } from "./markdown.js";

function render(text: string): string[] {
  let state: MarkdownState = MARKDOWN_START;
  return text.split("\n").map((line) => {
    const rendered = renderMarkdownLine(line, state, COLOR_STYLE);
    state = rendered.state;
    return rendered.text;
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the style codes are taken away
const withoutStyle = (text: string): string => text.replace(/\x1b\[[0-9;]*m/g, "");

describe("renderMarkdownLine", () => {
  test("never adds or removes a character", () => {
    const source = [
      "# Title **x**",
      "- item with `code` and **bold**",
      "10) *it* [link](https://e.org/a_b) **un closed",
      "> quote",
      "---",
      "```sh",
      "# not a heading **x**",
      "```",
      "| a | b |",
      "snake_case * 2 * 3 and `` a`b ``",
    ].join("\n");
    expect(withoutStyle(render(source).join("\n"))).toBe(source);
  });

  test("marks up headings, bold, code, lists and links", () => {
    expect(render("# Title")[0]).toContain(COLOR_STYLE.underline("Title"));
    expect(render("a **b** c")[0]).toContain(COLOR_STYLE.bold("b"));
    expect(render("a `b` c")[0]).toContain(COLOR_STYLE.cyan("b"));
    expect(render("- a")[0]).toContain(COLOR_STYLE.cyan("-"));
    expect(render("[a](b)")[0]).toContain(COLOR_STYLE.underline("a"));
  });

  test.each([
    ["_it_", COLOR_STYLE.italic("it")],
    ["__bold__", COLOR_STYLE.bold("bold")],
    ["~~gone~~", COLOR_STYLE.strike("gone")],
    ["_snake_case_", COLOR_STYLE.italic("snake_case")],
    ["an**is**is", COLOR_STYLE.bold("is")],
    ["(_it_)", COLOR_STYLE.italic("it")],
  ])("marks up %s", (text, expected) => {
    expect(render(text)[0]).toContain(expected);
  });

  test.each(["snake_case_name", "a__b__c", "a ~ b ~ c", "~5 to ~6", "_ _", "____", "~~~~ a", "2 ** 3 ** 4"])(
    "does not treat %s as a mark",
    (text) => {
      expect(render(text)[0]).not.toMatch(/\[[139]m/);
    },
  );

  test("colours code in a known language, over several lines", () => {
    expect(render("```ts\nlet a = 1; /* x\ny */\n```").slice(1, 3)).toEqual([
      `${COLOR_STYLE.magenta("let")} a = ${COLOR_STYLE.yellow("1")}; ${COLOR_STYLE.dim("/* x")}`,
      COLOR_STYLE.dim("y */"),
    ]);
  });

  test("colours a diff: added, removed, and where it is", () => {
    const { green, red, cyan } = COLOR_STYLE;
    expect(render("```diff\n@@ -1 +1 @@\n-old\n+new\n same\n```").slice(1, 5)).toEqual([
      cyan("@@ -1 +1 @@"),
      red("-old"),
      green("+new"),
      " same",
    ]);
  });

  test("treats nothing inside a code block as Markdown, and closes it only at its own fence", () => {
    const [, code, inner, , after] = render("````\n**a**\n```\n````\n**b**");
    expect(code).toBe(COLOR_STYLE.cyan("**a**"));
    expect(inner).toBe(COLOR_STYLE.cyan("```"));
    expect(after).toContain(COLOR_STYLE.bold("b"));
  });

  test("does not make a multiplication italic", () => {
    expect(render("2 * 3 * 4")[0]).toBe("2 * 3 * 4");
  });
});

const IN_CODE: MarkdownState = { fence: "```" };

test.each<[line: string, state: MarkdownState, indent: number | undefined]>([
  ["plain text", MARKDOWN_START, 0],
  ["- item", MARKDOWN_START, 2],
  ["  12. item", MARKDOWN_START, 6],
  ["> said", MARKDOWN_START, 2],
  ["  below an item", MARKDOWN_START, 2],
  ["    indented code", MARKDOWN_START, undefined],
  ["| a | table |", MARKDOWN_START, undefined],
  ["```ts", MARKDOWN_START, undefined],
  ["- in code", IN_CODE, undefined],
  ["```", IN_CODE, undefined],
])("finds where %j continues when it is broken", (line, state, indent) => {
  const next = renderMarkdownLine(line, state, PLAIN_STYLE).state;
  expect(hangingIndent(line, state, next)).toBe(indent);
});
