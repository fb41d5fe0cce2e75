import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";

/** A file with some content, the tools, and a function that reads the file. */
function scene(content: string | Buffer) {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, content);
  const run = fileTools();
  const edit = (args: Record<string, unknown>): Promise<string> => run("edit_file", { path, ...args });
  return { path, run, edit, content: () => readFileSync(path, "utf8") };
}

test("replaces an exact match, and returns a compact diff", async () => {
  const { path, edit, content } = scene("one\ntwo\nthree\nfour\nfive\nsix\n");
  const text = await edit({ old_text: "four", new_text: "4" });
  expect(text).toBe(`Edited ${path}: 1 replacement.\n@@ -2,5 +2,5 @@\n two\n three\n-four\n+4\n five\n six`);
  expect(content()).toBe("one\ntwo\nthree\n4\nfive\nsix\n");
});

test("changes nothing for an ambiguous match and reports the places", async () => {
  const { edit, content } = scene("a\nb\na\n");
  const text = await edit({ old_text: "a", new_text: "x" });
  expect(text).toMatch(/found at 2 places \(lines 1, 3\); nothing was changed.*replace_all/);
  expect(content()).toBe("a\nb\na\n");
  expect(await edit({ old_text: "a", new_text: "x", replace_all: true })).toContain("2 replacements");
  expect(content()).toBe("x\nb\nx\n");
});

test("changes nothing for an absent match and shows the nearest lines", async () => {
  const { edit, content } = scene("const alpha = 1;\nconst beta = 2;\nfunction gamma() {}\n");
  const text = await edit({ old_text: "const beta = 3;", new_text: "x" });
  expect(text).toContain("old_text was not found; nothing was changed");
  expect(text).toContain("line 2: const beta = 2;");
  expect(content()).toContain("beta = 2");
});

test("keeps CRLF, in the place changed and everywhere else", async () => {
  const { edit, content } = scene("one\r\ntwo\r\nthree\r\n");
  expect(await edit({ old_text: "one\ntwo", new_text: "1\n2\n2b" })).not.toContain("ignoring");
  expect(content()).toBe("1\r\n2\r\n2b\r\nthree\r\n");
  await edit({ old_text: "three", new_text: "3\n4" });
  expect(content()).toBe("1\r\n2\r\n2b\r\n3\r\n4\r\n");
});

test("keeps the line break of each place in a file of mixed ones", async () => {
  const { edit, content } = scene("a\r\nb\nc\r\nd\n");
  await edit({ old_text: "b", new_text: "b1\nb2" });
  await edit({ old_text: "c", new_text: "c1\nc2" });
  expect(content()).toBe("a\r\nb1\nb2\nc1\r\nc2\r\nd\n");
});

test("never splits a CRLF by a text that begins with its line feed", async () => {
  const { edit, content } = scene("one\r\ntwo\r\nthree “3”\r\n");
  await edit({ old_text: "\ntwo", new_text: "\n2" });
  expect(content()).toBe("one\r\n2\r\nthree “3”\r\n");
  expect(await edit({ old_text: '\nthree "3"', new_text: "\n3" })).toContain("typographic quotes");
  expect(content()).toBe("one\r\n2\r\n3\r\n");
  await edit({ old_text: "\n", new_text: ";", replace_all: true });
  expect(content()).toBe("one;2;3;");
});

test("matches both kinds of line breaks in the text to find", async () => {
  const { edit, content } = scene("a\nb\nx\r\na\r\nb\r\ny\r\na\r\nb\n");
  expect(await edit({ old_text: "a\nb", new_text: "c\nd" })).toContain("3 places (lines 1, 4, 7)");
  await edit({ old_text: "a\nb\n", new_text: "c\nd\n", replace_all: true });
  expect(content()).toBe("c\nd\nx\r\nc\r\nd\r\ny\r\nc\r\nd\r\n");
});

test("can change line breaks on purpose", async () => {
  const { edit, content } = scene("a\r\nb\r\n");
  await edit({ old_text: "a\r\n", new_text: "a\n" });
  expect(content()).toBe("a\nb\r\n");
});

test("keeps a byte order mark and a missing final newline", async () => {
  const { edit, content } = scene("\ufeffone\ntwo");
  await edit({ old_text: "\ufeffone", new_text: "1" });
  await edit({ old_text: "two", new_text: "2" });
  expect(content()).toBe("\ufeff1\n2");
});

test("keeps UTF-16", async () => {
  const { path, edit } = scene(Buffer.from("\ufeffgrün\r\nblau\r\n", "utf16le"));
  await edit({ old_text: "grün\n", new_text: "rot\n" });
  expect(readFileSync(path, "utf16le")).toBe("\ufeffrot\r\nblau\r\n");
});

test("keeps bytes that are not UTF-8 unchanged around an edit", async () => {
  const { path, edit } = scene(Buffer.from("caf\xe9\nname = old\n\xff\xfe", "latin1"));
  expect(await edit({ old_text: "old", new_text: "né" })).toContain("+name = né");
  const expected = Buffer.concat([
    Buffer.from("caf\xe9\nname = ", "latin1"),
    Buffer.from("né\n"),
    Buffer.from([0xff, 0xfe]),
  ]);
  expect(readFileSync(path).equals(expected)).toBe(true);
});

test("ignores trailing blanks only in the matching place, and reports it", async () => {
  const { edit, content } = scene("keep  \nif (a) {  \n  b();\t\n}\nkeep\t\n");
  const text = await edit({ old_text: "if (a) {\n  b();\n}", new_text: "if (a) b();" });
  expect(text).toContain("old_text matched only after ignoring trailing blanks.");
  expect(content()).toBe("keep  \nif (a) b();\nkeep\t\n");
});

test("ignores a difference in indentation, and keeps the file's indentation", async () => {
  const { edit, content } = scene("class A {\n\tfoo() {\n\t\treturn 1;\n\t}\n}\n");
  const text = await edit({
    old_text: "  foo() {\n    return 1;\n  }\n",
    new_text: "  foo() {\n    if (x)\n      return 2;\n  }\n",
  });
  expect(text).toContain("ignoring indentation");
  expect(content()).toBe("class A {\n\tfoo() {\n\t\tif (x)\n\t\t\treturn 2;\n\t}\n}\n");
});

test("ignores typographic quotes only in the matching place", async () => {
  const { edit, content } = scene("She said “yes” – and ‘no’.\nOther “text”.\n");
  const text = await edit({ old_text: `said "yes" - and`, new_text: "said maybe and" });
  expect(text).toContain("ignoring typographic quotes, dashes and spaces");
  expect(content()).toBe("She said maybe and ‘no’.\nOther “text”.\n");
});

test("never matches blank lines alone loosely", async () => {
  const { edit, content } = scene("a\n\t\nb\n");
  expect(await edit({ old_text: "  \n", new_text: "x" })).toContain("was not found");
  expect(content()).toBe("a\n\t\nb\n");
});

test("applies several edits all or none", async () => {
  const { edit, content } = scene("a\nb\nc\n");
  const missing = await edit({
    edits: [
      { old_text: "a", new_text: "1" },
      { old_text: "nowhere", new_text: "2" },
    ],
  });
  expect(missing).toContain("edits[1].old_text was not found; nothing was changed");
  expect(content()).toBe("a\nb\nc\n");
  const text = await edit({
    edits: [
      { old_text: "c", new_text: "3" },
      { old_text: "a", new_text: "1" },
    ],
  });
  expect(text).toContain("2 replacements");
  expect(content()).toBe("1\nb\n3\n");
});

test("edits that overlap are refused", async () => {
  const { edit, content } = scene("abc\n");
  const text = await edit({
    edits: [
      { old_text: "ab", new_text: "1" },
      { old_text: "bc", new_text: "2" },
    ],
  });
  expect(text).toContain("edits[0].old_text and edits[1].old_text overlap; nothing was changed");
  expect(content()).toBe("abc\n");
});

test("does not edit a file changed on disk since it was read until it is read again", async () => {
  const { path, run, edit, content } = scene("a\nb\n");
  await run("read_file", { path });
  writeFileSync(path, "a\nc\n");
  expect(await edit({ old_text: "a", new_text: "x" })).toContain(
    "was changed on disk since it was last read",
  );
  expect(content()).toBe("a\nc\n");
  await run("read_file", { path });
  expect(await edit({ old_text: "a", new_text: "x" })).toContain("Edited");
});

test("detects a change after a partial read too", async () => {
  const { path, run, edit } = scene("a\nb\n");
  await run("read_file", { path, offset: 1, limit: 1 });
  writeFileSync(path, "a\nlonger\n");
  expect(await edit({ old_text: "a", new_text: "x" })).toContain("was changed on disk");
});

test("does not treat a file that was only touched as changed", async () => {
  const { path, run, edit } = scene("a\nb\n");
  await run("read_file", { path });
  utimesSync(path, 1, 1);
  expect(await edit({ old_text: "a", new_text: "x" })).toContain("Edited");
});

test("needs no new read after the tools' own changes", async () => {
  const { path, run, edit, content } = scene("a\nb\n");
  await run("read_file", { path });
  await run("write_file", { path, content: "a\nb\nc\n" });
  await edit({ old_text: "a", new_text: "1" });
  expect(await edit({ old_text: "b", new_text: "2" })).toContain("Edited");
  expect(content()).toBe("1\n2\nc\n");
});

test("edits at the same time do not lose each other's changes", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `key${index}=`);
  const { edit, content } = scene(names.map((name) => `${name}old;\n`).join(""));
  await Promise.all(names.map((name) => edit({ old_text: `${name}old;`, new_text: `${name}new;` })));
  expect(content()).toBe(names.map((name) => `${name}new;\n`).join(""));
});

test.each([
  [{ old_text: "a" }, '"new_text" is required'],
  [{ new_text: "a" }, '"old_text" is required'],
  [{}, '"old_text" is required'],
  [{ old_text: "", new_text: "a" }, "use write_file"],
  [{ old_text: "a", new_text: "a" }, "nothing to change"],
  [{ old_text: 1, new_text: "a" }, "old_text"],
  [{ edits: [] }, "edits"],
  [{ edits: [{ old_text: "a" }] }, "new_text"],
])("names bad arguments: %j", async (args, named) => {
  const { edit, content } = scene("a\n");
  expect(await edit(args)).toContain(named);
  expect(content()).toBe("a\n");
});

test("does not edit a binary file, and offers the nearest name for a missing one", async () => {
  const { path, run, edit } = scene(Buffer.from([0, 1, 2, 97]));
  expect(await edit({ old_text: "a", new_text: "b" })).toContain("is not a text file");
  const missing = await run("edit_file", {
    path: path.replace("a.txt", "b.txt"),
    old_text: "a",
    new_text: "b",
  });
  expect(missing).toMatch(/no such file.*Did you mean .*a\.txt\?/);
});

test("keeps the mode", async () => {
  const { path, edit } = scene("a\n");
  const { mode } = statSync(path);
  await edit({ old_text: "a", new_text: "b" });
  expect(statSync(path).mode).toBe(mode);
});

test("returns a diff of bounded length for thousands of replacements", async () => {
  const { edit } = scene("a\n\n\n\n\n\n\n".repeat(5000));
  const text = await edit({ old_text: "a", new_text: "b", replace_all: true });
  expect(text).toContain("5000 replacements");
  expect(text).toContain("[4980 more changes are not shown.]");
  expect(text.length).toBeLessThan(10_000);
});

test("never loosely matches bytes that are not text: half a character could look like a quote", async () => {
  const { path, edit } = scene(Buffer.concat([Buffer.from("Noëx\n"), Buffer.from([0xff, 0x0a])]));
  const before = readFileSync(path);
  expect(await edit({ old_text: '"x', new_text: "y" })).toContain("was not found");
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.each([
  [
    { old_text: "a", new_text: "b\nc \ud83d" },
    '"new_text" holds half a character (\\ud83d, an unpaired surrogate) at position 4, on its line 2',
  ],
  [{ old_text: "\ude00", new_text: "b" }, '"old_text" holds half a character (\\ude00'],
  [{ edits: [{ old_text: "a", new_text: "\ud83dx" }] }, '"edits[0].new_text" holds half a character'],
])("refuses half a character with its place, and changes nothing: %j", async (args, named) => {
  const { edit, content } = scene("a 😀\n");
  expect(await edit(args)).toContain(named);
  expect(content()).toBe("a 😀\n");
});

test("ignores arguments that a model only filled in: empty texts next to edits, no edits next to texts", async () => {
  const { edit, content } = scene("one\ntwo\n");
  await edit({ old_text: "one", new_text: "1", edits: [] });
  await edit({ old_text: "", new_text: "", edits: [{ old_text: "two", new_text: "2" }] });
  expect(content()).toBe("1\n2\n");
});

test("keeps NUL bytes, a lone carriage return and a byte order mark inside the text unchanged", async () => {
  const text = `${"x".repeat(9000)}\0\rone\n\ufefftwo\n`;
  const { edit, content } = scene(text);
  await edit({ old_text: "one", new_text: "1" });
  expect(content()).toBe(text.replace("one", "1"));
});

test("can remove a byte order mark inside the text; one at the start is not part of the text", async () => {
  const { edit, content } = scene("\ufeffone\ntwo\ufeff\n");
  await edit({ old_text: "\ufeff", new_text: "" });
  expect(content()).toBe("\ufeffone\ntwo\n");
  expect(await edit({ old_text: "\ufeff", new_text: "" })).toContain("was not found");
});

test("searches for a block of identical lines as quickly as for others", async () => {
  const { edit } = scene("a \n".repeat(400_000));
  const block = "a\n".repeat(20_000);
  expect(await edit({ old_text: `${block}b\n`, new_text: "" })).toContain("was not found");
  expect(await edit({ old_text: block, new_text: "", replace_all: true })).toContain("20 replacements");
});

test.each(["utf16le", "utf16be"])(
  "does not edit %s that is not valid unless every byte stays",
  async (encoding) => {
    const little = Buffer.from("\ufeffa\ud83db\n", "utf16le");
    const bytes = encoding === "utf16le" ? little : Buffer.from(little).swap16();
    const { path, edit } = scene(bytes);
    await edit({ old_text: "a", new_text: "c" });
    const expected = Buffer.from(bytes);
    expected[encoding === "utf16le" ? 2 : 3] = 0x63;
    expect(readFileSync(path).equals(expected)).toBe(true);
    writeFileSync(path, Buffer.concat([bytes, Buffer.from([1])]));
    await fileTools()("read_file", { path });
    expect(await fileTools()("edit_file", { path, old_text: "a", new_text: "c" })).toContain(
      "is not a text file",
    );
  },
);

test("makes hundreds of thousands of replacements in a line of megabytes, also with line breaks in them", async () => {
  const { edit, content } = scene("ab".repeat(300_000));
  expect(await edit({ old_text: "a", new_text: "x\ny", replace_all: true })).toContain("300000 replacements");
  expect(content()).toBe("x\nyb".repeat(300_000));
});

test("refuses a text that occurs millions of times, without keeping it in memory", async () => {
  const { edit } = scene("\n".repeat(5_000_000));
  expect(await edit({ old_text: "\n", new_text: "x", replace_all: true })).toContain(
    "occurs more than 1000000 times; nothing was changed",
  );
  expect(await edit({ old_text: "x", new_text: "y" })).toContain("was not found");
});

test("refuses a short text that would be repeated to many megabytes", async () => {
  const { path, edit } = scene("a\n".repeat(1_000_000));
  for (const new_text of ["x".repeat(100), `${"x".repeat(98)}\n`, "é".repeat(50)]) {
    expect(await edit({ old_text: "a", new_text, replace_all: true })).toMatch(
      /new_text would be repeated to more than 16777216 bytes; nothing was changed\./,
    );
  }
  expect(statSync(path).size).toBe(2_000_000);
});

test("counts the indentation that a text gets at each place", async () => {
  const { edit } = scene(`${"  ".repeat(500)}a( \n`.repeat(1000));
  const new_text = "a();\n".repeat(100);
  expect(await edit({ old_text: "a(", new_text, replace_all: true })).toContain("1000 replacements");
  const { edit: again, path } = scene(`${"  ".repeat(500)}a;\n${"  ".repeat(500)}b;\n`.repeat(1000));
  const args = { old_text: " a;\n b;", new_text: " a();\n".repeat(100), replace_all: true };
  expect(await again(args)).toContain("would be repeated to more than 16777216 bytes");
  expect(statSync(path).size).toBe(2_006_000);
});

test("limits the places of all edits of a call together, and how much they search", async () => {
  const { edit, content } = scene("ab".repeat(400_000));
  const edits = (count: number) =>
    Array.from({ length: count }, () => ({ old_text: "a", new_text: "b", replace_all: true }));
  expect(await edit({ edits: edits(20) })).toContain("occurs more than 1000000 times; nothing was changed");
  expect(await edit({ edits: edits(2000) })).toContain("2000 edits are too many for a file of this size");
  expect(content()).toBe("ab".repeat(400_000));
});

test("makes many replacements below the limit, with a diff of bounded length", async () => {
  const { path, edit } = scene("a\n".repeat(160_000));
  const text = await edit({ old_text: "a", new_text: "x".repeat(100), replace_all: true });
  expect(text).toContain("160000 replacements");
  expect(text.length).toBeLessThan(10_000);
  expect(statSync(path).size).toBe(16_160_000);
});

test("puts a text of any size in one place", async () => {
  const { path, edit } = scene("a\n");
  expect(await edit({ old_text: "a", new_text: "x".repeat(20_000_000) })).toContain("1 replacement.");
  expect(statSync(path).size).toBe(20_000_001);
});
