import { expect, test } from "vitest";
import { literalFinder } from "./literals.js";

/** The text with `|` at the position to examine, and the mark of the literal that it is in. */
test.each<[string, string, string | undefined]>([
  ["a.ts", "const a = `b|`;", "`"],
  ["a.ts", "const a = `b`;|", undefined],
  ["a.ts", "// a ` tick\n|f();", undefined],
  ["a.ts", "/* a ` tick\n*/|f();", undefined],
  ["a.ts", 'f("`");|', undefined],
  ["a.ts", "f('`');|", undefined],
  ["a.ts", "f(/`/);|", undefined],
  ["a.ts", "a / b; // `\n|", undefined],
  ["a.ts", "const a = `b\\`c|", "`"],
  ["a.ts", "const a = `// b|", "`"],
  ["a.ts", "don't(`|", "`"],
  ["a.py", "x = 1  # a ` tick\n|", undefined],
  ["a.py", '"""a ` tick\n|', '"""'],
  ["a.py", '"""a"""\n|', undefined],
  ["a.py", "'''a\"\"\"|", "'''"],
  ["a.py", 'a = \'#\'\n"""|', '"""'],
  ["A.java", 'String a = """\n  b|', '"""'],
  ["A.java", "// don't\nchar a = '\"';|", undefined],
  ["a.go", "a := `b\n|", "`"],
  ["a.rs", 'let a = "b\n|', '"'],
  ["a.rs", "let a = '\"';|", undefined],
  ["a.rs", "fn f<'a>(b: &'a str) {|", undefined],
  ["a.rs", 'let a = br#"b"c|', 'br#"'],
  ["a.rs", 'let a = r"\\";|', undefined],
  ["a.c", "// a ` tick\n|", undefined],
  ["a.xyz", "a ` b|", "`"],
])("finds the literal in %s around the mark: %j", (path, marked, mark) => {
  const [before = "", after] = marked.split("|");
  expect(literalFinder(before + (after ?? ""), path)(before.length)?.mark).toBe(mark);
});

test("finds literals before the position that it was last asked about", () => {
  const find = literalFinder("`a` + `b` + c", "a.ts");
  expect([12, 7, 1, 4, 8].map((position) => find(position)?.start)).toEqual([undefined, 7, 1, undefined, 7]);
});

test("finds literals at ascending positions of a long text in linear time", () => {
  const text = `${"f(\"a\", 'b', `c`); // d\n".repeat(50_000)}\`${"'".repeat(100_000)}`;
  const find = literalFinder(text, "a.ts");
  const found = Array.from({ length: 1000 }, (_, index) => find(Math.floor((index / 1000) * text.length)));
  expect(found.at(-1)).toEqual({ mark: "`", start: text.indexOf("`'") + 1, end: text.length });
});
