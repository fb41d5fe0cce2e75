import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { searchFiles } from "../src/host/fileSearch.js";
import { sharedPool } from "../src/host/pool/shared.js";
import { searchText } from "../src/host/textSearch.js";
import { makeTree, put, randomNumbers } from "./tree.js";

const RIPGREP = "rg";
const hasRipgrep = spawnSync(RIPGREP, ["--version"]).status === 0;
const WHY = "ripgrep is not installed: apt-get install ripgrep";

/** ripgrep as a yardstick for the same question: dotfiles included, only the repository's own rules. */
const RG = [
  "--no-heading",
  "--line-number",
  "--no-config",
  "--color=never",
  "--hidden",
  "--glob=!.git",
  "--no-ignore-global",
  "--no-require-git",
  "--crlf",
];

function ripgrep(root: string, args: readonly string[]): string[] {
  const { stdout, status } = spawnSync(RIPGREP, [...RG, ...args, "."], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status === 2 && stdout === "") throw new Error(`rg refused ${args.join(" ")}`);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.replace(/^\.\//, "").replace(/\r$/, ""))
    .filter((line) => !/^Binary file|binary file matches/.test(line))
    .sort();
}

/** Our own matches in the same form, before anything is cut to a size for reading. */
async function ours(
  root: string,
  args: { query: string; regex?: boolean | undefined; ignore_case?: boolean | undefined },
  { includeIgnored = false, simd = true } = {},
): Promise<string[]> {
  const { query, regex = false, ignore_case: ignoreCase = false } = args;
  const search = {
    query: {
      ...{ text: query, regex, ignoreCase, mode: "lines" as const, context: 0 },
      ...{ maxLineLength: 1_000_000, maxCharacters: Number.POSITIVE_INFINITY },
    },
    walk: {
      kind: "walk",
      scope: { cwd: root, root: undefined, secret: [], granted: [], includeIgnored },
      paths: ["."],
      glob: undefined,
    },
    maxResults: 1_000_000,
    countOnMs: 0,
  } as const;
  const { files } = await searchText(sharedPool({ simd }), search, { timeoutMs: 120_000 });
  return files.flatMap((file) => file.rows.map((row) => `${file.label}:${row.line}:${row.text}`)).sort();
}

const SAME = { missing: [], extra: [] };

const QUERIES: readonly { query: string; regex?: boolean; ignore_case?: boolean }[] = [
  { query: "function" },
  { query: "FUNCTION", ignore_case: true },
  { query: "e" },
  { query: "=> {" },
  { query: "ä" },
  { query: "export (const|function) \\w+", regex: true },
  { query: "^import .* from", regex: true },
  { query: "\\breturn\\b.*;$", regex: true },
  { query: "[A-Z]{3,}_[A-Z]+", regex: true },
  { query: "\\w+\\s+=\\s+\\w+", regex: true },
  { query: "(foo|bar|baz)\\d*", regex: true },
  { query: "(error|warning|todo)", regex: true, ignore_case: true },
  { query: "[^\\sa-zA-Z0-9(){}]{4,}", regex: true },
  { query: "^\\s*$", regex: true },
  { query: "x*", regex: true },
  { query: "a.c", regex: true },
  { query: "\\d{4}-\\d{2}-\\d{2}", regex: true },
  ...String.raw`[a-z]{14,} [a-zA-Z_]{20,} [A-Z][a-z]+[A-Z][a-z]+\w+\( ^\s*[a-z]+\s+\w+;$ \d{6,} 0x[0-9a-f]{8,} \w{30,}
    [A-Z_]{25,} [a-z]+_[a-z]+_[a-z]+_[a-z]+ \b[A-Z]{3,5}\d{2,4}\b ^\s+return\s+\w+;$ \w+\s*\(\s*\) "[^"]{60,}"
    \d+\.\d+\.\d+ [0-9a-f]{32} \s+$ ^$ ^\w+$ .{120,} (foo|bar|baz)\d+
    TODO|FIXME|XXX|HACK import|export|require|module|await|async|typeof|instanceof|yield|default|extends
    \b(error|warning|todo)\b on(Load|Error|Close|Data)\( expect|expected|expectation e|if|=== a1|b2|c3|@ ^[^\s]{2,5}$ \B[A-Z]\B (\w+\.)+\w+\(`
    .split(/\s+/)
    .flatMap((query) => [
      { query, regex: true },
      { query, regex: true, ignore_case: true },
    ]),
];

describe.skipIf(!hasRipgrep)(`compared with ripgrep${hasRipgrep ? "" : ` (skipped: ${WHY})`}`, () => {
  test.each(QUERIES)(
    "finds the same lines in the installed packages: $query",
    async ({ query, regex, ignore_case }) => {
      const root = corpus();
      const flags = [...(regex ? [] : ["--fixed-strings"]), ...(ignore_case ? ["--ignore-case"] : [])];
      const expected = ripgrep(root, ["--no-ignore", ...flags, "-e", query]).filter(isShared(query));
      for (const simd of [true, false]) {
        const found = await ours(root, { query, regex, ignore_case }, { includeIgnored: true, simd });
        const shown = found.filter(isShared(query)).map(comparable);
        expect({ simd, ...difference(shown, expected.map(comparable)) }).toEqual({ simd, ...SAME });
      }
    },
  );

  test("agrees on random texts and expressions of the shared syntax", async () => {
    const random = randomNumbers(99);
    const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const words = [
      ...["foo", "bar", "Foo", "fo", "o", "x1", "42", "_", "-", "."],
      ...[" ", "  ", "\t", "é", "日本", "", "\u2028", "\u017f", "\u212a", "k"],
    ];
    const atoms =
      String.raw`foo bar o . \w \d \s [a-f] [^a-f] é \S x \. [\s\d] [^\s] [^o\n] [o\n] \D k (foo|bar) (?:o|a) 日`.split(
        " ",
      );
    const marks = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "+?"];
    const root = makeTree();
    for (let i = 0; i < 30; i++) {
      const line = () => Array.from({ length: random(8) }, () => pick(words)).join("");
      const lines = Array.from({ length: random(40) }, line);
      put(root, `f${i}.txt`, lines.join(pick(["\n", "\n", "\r\n"])) + pick(["", "\n"]));
    }
    for (let round = 0; round < 300; round++) {
      const body = Array.from({ length: 1 + random(4) }, () => pick(atoms) + pick(marks)).join("");
      const query = pick(["", "", "^", "\\b"]) + body + pick(["", "", "$"]);
      const ignore_case = random(4) === 0;
      const shared = isShared(query);
      const expected = ripgrep(root, [...(ignore_case ? ["--ignore-case"] : []), "-e", query]).filter(shared);
      const found = (await ours(root, { query, regex: true, ignore_case })).filter(shared);
      expect({ query, ignore_case, ...difference(found, expected) }).toEqual({ query, ignore_case, ...SAME });
    }
  });

  test("agrees on random runs and rows of classes in long files", async () => {
    const random = randomNumbers(41);
    const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const classes = String.raw`[a-z] [A-Z] \w \d [a-zA-Z_] [0-9a-f] [^"] . \s \S [A-Z_] [^a-z] [é-ü]`.split(
      " ",
    );
    const between = ["", "", "_", "\\(", "\\.", "\\s*", "\\b", "\\B", '"', "(x|yz)?"];
    const marks = () =>
      pick(["", "", "+", "*", "?", "{2}", "{3,5}", `{${1 + random(40)},}`, `{${random(12)}}`]);
    const root = makeTree();
    for (let i = 0; i < 3; i++) put(root, `f${i}.txt`, longText(random, pick(["\n", "\n", "\r\n"])));
    for (let round = 0; round < 50; round++) {
      const part = () => pick(classes) + marks() + pick(between);
      const row = Array.from({ length: 1 + random(3) }, part).join("");
      const query = pick(["", "", "", "^", "^\\s*"]) + row + pick(["", "", "", "$", ";$"]);
      const ignore_case = random(4) === 0;
      const flags = ignore_case ? ["--ignore-case"] : [];
      const shared = isShared(query);
      const expected = ripgrep(root, [...flags, "-e", query]).filter(shared);
      for (const simd of [true, false]) {
        const found = (await ours(root, { query, regex: true, ignore_case }, { simd })).filter(shared);
        const context = { query, ignore_case, simd };
        expect({ ...context, ...difference(found, expected) }).toEqual({ ...context, ...SAME });
      }
    }
  });

  test("agrees on random alternations in long files", async () => {
    const random = randomNumbers(43);
    const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const root = makeTree();
    for (let i = 0; i < 3; i++) put(root, `f${i}.txt`, longText(random, pick(["\n", "\n", "\r\n"])));
    put(root, "other-cases.txt", "\u212a9\nba\u017fe\nMAX_\u017fIZE\nca\u017fe_name\n");
    const words = String.raw`return fooBar MAX_SIZE SIZE_OF 0xdead beef01 x1 Abc_9Abc c_9A case_name Case 1\.22 \.333 aaaaaaaaaaaa K9 zz ;;`;
    for (let round = 0; round < 25; round++) {
      const choice = () => Array.from({ length: 1 + random(12) }, () => pick(words.split(" "))).join("|");
      const query = pick([
        choice,
        choice,
        () => `(${choice()})\\d`,
        () => `\\b(?:${choice()})`,
        () => `_(${choice()})`,
      ])();
      const ignore_case = random(2) === 0;
      const flags = ignore_case ? ["--ignore-case"] : [];
      const shared = isShared(query);
      const expected = ripgrep(root, [...flags, "-e", query]).filter(shared);
      for (const simd of [true, false]) {
        const found = (await ours(root, { query, regex: true, ignore_case }, { simd })).filter(shared);
        const context = { query, ignore_case, simd };
        expect({ ...context, ...difference(found, expected) }).toEqual({ ...context, ...SAME });
      }
    }
  });

  test.each(["o\\nb", "\\x0a", "(o|\\n)"])("refuses %s, as ripgrep does", async (query) => {
    const root = makeTree({ "a.txt": "foo\nbar\n" });
    expect(() => ripgrep(root, ["-e", query])).toThrow("refused");
    await expect(ours(root, { query, regex: true })).rejects.toThrow("within one line");
  });

  test("searches the same files in random trees with ignore files", async () => {
    const random = randomNumbers(31);
    const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const names = ["a", "b", "c", "x.log", "y.tmp", "build", ".hid", "deep", "z.o", "keep.log", "a b", "#h"];
    const rules = [
      ...`*.log !keep.log build/ /a b/* !b/c **/deep a/** a/**/x.log *.tmp ? [ab] [!a] deep/`.split(" "),
      ...String.raw`!deep/ .* !.hid #comment \#h c/ * !*.o !*/ /build/**/z.o a/b/c **/b/** *.[ol]*`.split(
        " ",
      ),
      ...["a b", "x.log "],
    ];
    for (let round = 0; round < 60; round++) {
      const root = makeTree({ "sub/.keep": "needle\n" });
      if (random(2) === 0) mkdirSync(join(root, ".git"));
      for (let i = 0; i < 40; i++) {
        const parts = Array.from({ length: 1 + random(4) }, () => pick(names));
        try {
          put(root, parts.join("/"), "needle\n");
        } catch {
          // The name is taken by a file or a directory: one less.
        }
      }
      for (const directory of [".", ...directories(root)]) {
        if (random(3) === 0)
          put(
            root,
            `${directory}/${pick([".gitignore", ".gitignore", ".ignore"])}`,
            `${Array.from({ length: 1 + random(5) }, () => pick(rules)).join("\n")}\n`,
          );
      }
      const found = await ours(root, { query: "needle" });
      expect({ round, ...difference(found, ripgrep(root, ["-F", "needle"])) }).toEqual({ round, ...SAME });
      const { total } = await searchFiles(
        sharedPool(),
        {
          ...{ pattern: "**", path: root, order: "path", limit: 1, maxCharacters: 1000 },
          scope: { cwd: root, root: undefined, secret: [], granted: [], includeIgnored: false },
        },
        { timeoutMs: 60_000 },
      );
      const { stdout } = spawnSync(
        RIPGREP,
        ["--files", ...RG.filter((flag) => !/line|heading|crlf/.test(flag))],
        { cwd: root, encoding: "utf8" },
      );
      expect({ round, total }).toEqual({ round, total: stdout.split("\n").filter(Boolean).length });
    }
  });
});

/** Text of several windows, in which long runs lie across the places where one window ends and the next begins. */
function longText(random: (below: number) => number, lineEnd: string): string {
  const WINDOW = 256 * 1024;
  const words = [
    ...[
      "return",
      "fooBar",
      "MAX_SIZE_OF_A_THING",
      "0xdeadbeef01",
      "x",
      "_",
      '"',
      "(",
      ")",
      ";",
      ".",
      "é",
      "日本",
    ],
    ..."a B 7 \t".split(" "),
    ...[
      " ",
      " ",
      "    ",
      "snake_case_name_of_it",
      "CamelCaseNameOf(",
      "1.22.333",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
  ];
  const line = () => Array.from({ length: random(9) }, () => words[random(words.length)]).join("");
  let text = "";
  for (let end = WINDOW; end <= 2 * WINDOW; end += WINDOW) {
    const until = end - 10 - random(60);
    while (text.length < until) text += `${line()}${lineEnd}`;
    text += "Abc_9".repeat(40).slice(random(100)) + lineEnd;
  }
  return text + line();
}

/** Word characters and white space beyond ASCII are not the same for ripgrep and for JavaScript. */
function isShared(query: string): (line: string) => boolean {
  return (line) => !/\\[wdbB]/.test(query) || /^[\t -~]*$/.test(line);
}

/** The first few lines that only one side has, which says more than two long lists. */
function difference(found: readonly string[], expected: readonly string[]) {
  const [ours, theirs] = [new Set(found), new Set(expected)];
  return {
    missing: expected.filter((line) => !ours.has(line)).slice(0, 5),
    extra: found.filter((line) => !theirs.has(line)).slice(0, 5),
  };
}

/** Text both tools show alike: what cannot be seen is escaped by one and not by the other. */
function comparable(line: string): string {
  return /^[\x20-\x7e\t\u00a1-\u00ac\u00ae-\u017f]*$/.test(line) ? line : place(line);
}

/** Path and line number. */
function place(line: string): string {
  return /^.+?:\d+/.exec(line)?.[0] ?? line;
}

/** Real code of many authors that every checkout has: packages the tests depend on. */
function corpus(): string {
  return join(process.cwd(), "../../node_modules/vitest");
}

function directories(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== ".git")
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
