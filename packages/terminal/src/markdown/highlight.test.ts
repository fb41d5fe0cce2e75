import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { COLOR_STYLE } from "../text/style.js";
import { highlightLine, type OpenToken } from "./highlight.js";
import { findLanguage } from "./languages.js";

const { magenta, green, dim, blue, yellow, cyan } = COLOR_STYLE;

function highlight(language: string, source: string): string[] {
  const known = findLanguage(language);
  if (!known) throw new Error(`no language ${language}`);
  let open: OpenToken;
  return source.split("\n").map((line) => {
    const painted = highlightLine(line, known, open, COLOR_STYLE);
    open = painted.open;
    return painted.text;
  });
}

describe("syntax colours", () => {
  test("distinguish keywords, strings, numbers, calls, types and comments", () => {
    expect(highlight("ts", 'const a: Map = f("x\\"y", 1.5); // why')).toEqual([
      `${magenta("const")} a: ${cyan("Map")} = ${blue("f")}(${green('"x\\"y"')}, ${yellow("1.5")}); ${dim("// why")}`,
    ]);
    expect(highlight("python", "def f(x): # two")).toEqual([
      `${magenta("def")} ${blue("f")}(x): ${dim("# two")}`,
    ]);
    expect(highlight("SQL", "SELECT a -- x")).toEqual([`${magenta("SELECT")} a ${dim("-- x")}`]);
    expect(highlight("json", '{"a": "b"}')).toEqual([`{${blue('"a"')}: ${green('"b"')}}`]);
    expect(highlight("yaml", "port: 80")).toEqual([`${blue("port")}: ${yellow("80")}`]);
  });

  test("continue comments and strings over lines until they end", () => {
    expect(highlight("c", "a /* one\ntwo */ b")).toEqual([`a ${dim("/* one")}`, `${dim("two */")} b`]);
    expect(highlight("py", 'x = """a\nb"""')).toEqual([`x = ${green('"""a')}`, green('b"""')]);
    expect(highlight("js", "`a\nb`")).toEqual([green("`a"), green("b`")]);
  });

  test("colour nothing else after an apostrophe in a comment or an open quote", () => {
    expect(highlight("rust", "fn f<'a>() {}")).toEqual([`${magenta("fn")} f<'a>() {}`]);
    expect(highlight("c", "don't\nint")).toEqual(["don't", magenta("int")]);
    expect(highlight("sh", "a$#b # c")).toEqual([`a$#b ${dim("# c")}`]);
  });

  test("find the language in a fence's words, in any case and with more after it", () => {
    expect(findLanguage('TypeScript title="a.ts"')).toBe(findLanguage("ts"));
    expect(findLanguage("constructor")).toBeUndefined();
    expect(findLanguage("")).toBeUndefined();
    expect(findLanguage("klingon")).toBeUndefined();
  });

  test("add or lose no character, whatever the code", () => {
    const characters = "ab1\"'`/*-#<>!\\ \t({:=_$é日";
    const painted = new Set<string>();
    let seed = 3;
    for (let round = 0; round < 300; round++) {
      let line = "";
      for (let at = 0; at < 40; at++) {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        line += characters[seed % characters.length];
      }
      for (const name of ["ts", "py", "sh", "json", "html", "sql", "css", "rust"]) {
        const [text = ""] = highlight(name, line);
        expect(stripVTControlCharacters(text), name).toBe(line);
        if (text !== line) painted.add(name);
      }
    }
    // Otherwise the lines have nothing to colour, and the test cannot fail.
    expect(painted.size).toBe(8);
  });
});
