import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";

interface EditCase {
  readonly class: string;
  readonly name: string;
  readonly path: string;
  readonly file: string;
  readonly oldText: string;
  readonly newText: string;
  /** `undefined`: no reading is safe. */
  readonly expected: string | undefined;
}

const CORPUS = new URL("../../../../bench/corpora/edits.mjs", import.meta.url);
const { editCases } = (await import(CORPUS.href)) as { editCases: () => EditCase[] };

async function edit(one: Pick<EditCase, "path" | "file" | "oldText" | "newText">) {
  const path = join(temporaryDirectory(), one.path);
  writeFileSync(path, one.file);
  const text = await fileTools()("edit_file", { path, old_text: one.oldText, new_text: one.newText });
  return { text, content: readFileSync(path, "utf8") };
}

test("leaves no file of the corpus as no one meant it, and applies most edits", async () => {
  const cases = editCases();
  const wrong: string[] = [];
  let applied = 0;
  for (const one of cases) {
    const { content } = await edit(one);
    if (content === one.expected) applied++;
    else if (content !== one.file) wrong.push(`${one.class}: ${one.name}\n${content}`);
  }
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(150);
  expect(applied / cases.filter(({ expected }) => expected !== undefined).length).toBeGreaterThan(0.95);
});

test("applies every edit of the corpus without a mistake as written", async () => {
  const cases = editCases().filter((one) => one.class === "ordinary");
  const refused: string[] = [];
  for (const one of cases) {
    const { text, content } = await edit(one);
    if (content !== one.expected) refused.push(`${one.name}\n${text}`);
  }
  expect(refused).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(80);
});

describe("says what it did", () => {
  test.each([
    [
      "const a = 'x';\n",
      "const a = ‘x’;",
      "const a = ‘y’;",
      /ignoring typographic.*written as the file has them/,
    ],
    ["a\nb\n", "a", "1\r\n2", /line breaks of new_text were written as the file has them/],
    ["a\nb\nc\n", "b\n", "2", /line break at the end of old_text was kept/],
    ["a\nb\n", "1\ta\n2\tb", "1\ta\n2\tc", /only after ignoring line numbers/],
    ["a\nb\n", "```\na\nb\n```", "```\na\nc\n```", /only after ignoring a Markdown fence/],
    ["a < b\n", "a &lt; b", "a &lt; c", /only after ignoring HTML entities/],
    ['f("a")\n', "f(&#34;a&#x22;)", "f(&#34;b&#x22;)", /only after ignoring HTML entities/],
    ['a("b")\n', 'a(\\"b\\")', 'a(\\"c\\")', /only after ignoring backslashes/],
    ["a   = b\n", "a = b", "a = c", /only after ignoring blanks within lines/],
    ["x {\n\ty\n}\n", "x {", "x {\n    z", /Spaces that indent new_text were written as tabs/],
    ["x {\n  y\n}\n", "x {", "x {\n\tz", /Tabs that indent new_text were written as spaces/],
    ["x\ny\n", "\ny", "z", /line break at the start of old_text was kept/],
    ["{\n  x();\n}\n", "x();", "  y();\n  z();", /indentation at the start of new_text was written once/],
  ])("%j %j", async (file, oldText, newText, remark) => {
    expect((await edit({ path: "a.js", file, oldText, newText })).text).toMatch(remark);
  });
});

describe("refuses with a reason", () => {
  test.each([
    [
      "a();\nb();\n",
      "a();\nb();",
      "// ... existing code ...\nc();",
      /in place of code, which would be deleted/,
    ],
    ["a();\n", "a();", "```js\nb();\n```", /new_text is inside a Markdown fence/],
    ["if (a < b) c();\n", "if (a < b) c();", "if (a &lt; d) c();", /new_text has HTML entities/],
    ['a("b");\n', 'a("b");', 'a(\\"c\\");', /new_text has a backslash before every quote/],
    ["if (a) {\n  b();\n}\n", "b();", "b();\nc();", /continues at the margin/],
    ['a("b\\n");\n', 'a("b\\n");', 'a("c\n");', /line break inside of quotes, where \\n is meant/],
    ["a();\n", "a();", '"b();"', /new_text is inside quotes/],
    ["a();\n", "a();", "Here is the updated code:\nb();", /new_text begins with a sentence to the user/],
    ["a();\n", "a();", "b();\u200b", /the invisible character U\+200B outside of strings/],
    [
      "const a = 'It’s';\n",
      "const a = 'It's';",
      "const a = 'It's what's';",
      /new_text has "'" where it is not clear/,
    ],
  ])("%j %j", async (file, oldText, newText, reason) => {
    const { text, content } = await edit({ path: "a.js", file, oldText, newText });
    expect(text).toMatch(reason);
    expect(content).toBe(file);
  });
});

describe("writes entities of markup that encode an ampersand", () => {
  test.each([
    ["a &amp; b", "a and b"],
    ["an &amp;lt; b", "an &amp;gt; b"],
    ["less", "&amp;lt;"],
    ["a &amp; b", "a &amp; b &amp;lt; c"],
  ])("%j %j", async (oldText, newText) => {
    const { content } = await edit({ path: "a.html", file: `<p>${oldText}</p>\n`, oldText, newText });
    expect(content).toBe(`<p>${newText}</p>\n`);
  });
  test("but not if every entity of the old text was encoded once more", async () => {
    const file = "<p>a &lt; b</p>\n";
    const { text, content } = await edit({
      path: "a.html",
      file,
      oldText: "a &lt; b",
      newText: "a &amp;lt; c",
    });
    expect(text).toMatch(/new_text has HTML entities encoded twice/);
    expect(content).toBe(file);
  });
});

test.each([
  ["a.md", "The plan", "Here is the plan:\nfirst"],
  ["a.yaml", "the plan: 1", "here is the plan:\n  first: 1"],
  ["a.js", "Here is the plan:\n", "Here is the list:\n"],
])("writes a sentence that belongs to %s", async (path, oldText, newText) => {
  const { content } = await edit({ path, file: `${oldText}\n`, oldText, newText });
  expect(content).toBe(`${newText}\n`);
});
