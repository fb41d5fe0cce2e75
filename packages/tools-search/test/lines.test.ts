import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { searchFilesTool, searchTextTool } from "../src/index.js";
import { makeTree, run } from "./tree.js";

const text = searchTextTool();

describe("a match lies within one line", () => {
  const root = () => makeTree({ "a.txt": "one\ntwo three\n\n four\r\nfive\rsix\nseven\u2028eight" });
  const found = async (query: string, more = {}) =>
    (await run(text, "", { query, paths: [root()], regex: true, ...more })).lines.map((line) =>
      Number(/:(\d+):/.exec(line)?.[1] ?? 0),
    );

  test.each(["one\\ntwo", "\\n", "[a-z]+\\r?\\n", "(one|\\x0a)two", "\\u000a", "\\cJ"])(
    "refuses %s, with the place and what to do instead",
    async (query) => {
      await expect(found(query)).rejects.toThrow(/at position \d+.*|search for one line of it/);
      await expect(found(query)).rejects.toThrow(/within one line/);
    },
  );

  test.each<[string, number[]]>([
    ["one\\stwo", [0]],
    ["one\\s*two", [0]],
    ["one[^x]two", [0]],
    ["one[^x]*$", [1]],
    ["one[\\s\\S]*three", [0]],
    ["one[^]*three", [0]],
    ["one\\Wtwo", [0]],
    ["one[\\n]two", [0]],
    ["one[\\n ]?", [1]],
    ["^\\s*$", [3]],
    ["\\s+four$", [4]],
    ["three\\s", [0]],
    ["(?<=one\\s)two", [0]],
    ["one(?=\\s)", [0]],
    ["one(?!\\s)", [1]],
    ["one\\p{Cc}", [0]],
  ])("matches %s in the lines %j", async (query, lines) => {
    expect(await found(query)).toEqual(lines);
  });

  test("ends a line only at a line feed: a lone carriage return and U+2028 are characters of it", async () => {
    expect(await found("five.six")).toEqual([5]);
    expect(await found("seven.eight")).toEqual([6]);
    expect(await found("^six|^eight|five$|seven$")).toEqual([0]);
  });

  test("matches a carriage return at the end of a line only with an expression that asks for it", async () => {
    expect(await found("\\r")).toEqual([4, 5]);
    expect(await found("\\r$")).toEqual([4]);
    expect(await found("[a-z]\\r$")).toEqual([4]);
    expect(await found("four\\r?$")).toEqual([4]);
    expect(await found("four[^\\r]*$")).toEqual([4]);
    expect(await found("four.")).toEqual([0]);
  });
});

describe("characters beyond ASCII", () => {
  const latin1 = Buffer.from("10\xb5s\nplain\n", "latin1");
  const utf8 = Buffer.from("日本語\nsmall\nna\u00efve \u3000\n");

  test.each<[string, string[]]>([
    ["^.{4}$", ["a.txt:1:10µs"]],
    ["^.{3}$", ["a.txt:3:日本語", "b.txt:1:日本語"]],
    ["^\\w+$", ["a.txt:2:plain", "a.txt:4:small", "b.txt:2:small"]],
    ["[^a-z]$", ["a.txt:3:日本語", "a.txt:5:naïve \u3000", "b.txt:1:日本語", "b.txt:3:naïve \u3000"]],
    ["\\s{2}$", ["a.txt:5:naïve \u3000", "b.txt:3:naïve \u3000"]],
    ["^\\S{5}\\s", ["a.txt:5:naïve \u3000", "b.txt:3:naïve \u3000"]],
  ])(
    "are each matched by %s as one character, in a UTF-8 file and in one that is not UTF-8",
    async (query, expected) => {
      const root = makeTree({ "a.txt": Buffer.concat([latin1, utf8]), "b.txt": utf8 });
      const { lines } = await run(text, root, { query, paths: [root], regex: true });
      expect(lines).toEqual(expected);
    },
  );

  test.each(["é", "日"])("shows a very long line with %s in front around the match", async (first) => {
    const root = makeTree({ "a.txt": `${first}${"-".repeat(30_000)}x42${"-".repeat(30_000)}\n` });
    for (const query of ["[a-z]\\d+", "[^-]\\d\\d", "\\p{L}\\d"]) {
      const { lines } = await run(text, root, { query, paths: [root], regex: true });
      expect(lines[0]).toContain("-x42-");
    }
  });
});

describe("upper and lower case", () => {
  test("is ignored beyond ASCII too: a Kelvin sign is a k, a long s is an s", async () => {
    const root = makeTree({ "a.txt": "mask\nMA\u017f\u212a\nÄrger\nMA\u0130\n", "b.txt": "MASK\n" });
    const found = async (query: string, regex: boolean) =>
      (await run(text, root, { query, regex, ignore_case: true, paths: [root] })).lines;
    const both = ["a.txt:1:mask", "a.txt:2:MA\u017f\u212a", "b.txt:1:MASK"];
    expect(await found("mask", false)).toEqual(both);
    expect(await found("ma\\wk", true)).toEqual(both);
    expect(await found("(mask|nothing)$", true)).toEqual(both);
    expect(await found("äRGER", false)).toEqual(["a.txt:3:Ärger"]);
    expect(await found("mai", false)).toEqual(['No matches for "mai".']);
  });
});

test("reports a working directory that is gone for relative paths, but not for absolute ones", () => {
  const root = makeTree({ "a.txt": "foo\n" });
  const gone = join(root, "gone");
  mkdirSync(gone);
  const dist = new URL("../dist/index.js", import.meta.url).href;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `const { rmSync } = await import("node:fs");
       const { searchFilesTool, searchTextTool } = await import(${JSON.stringify(dist)});
       rmSync(${JSON.stringify(gone)}, { recursive: true });
       const say = (promise) => promise.then(console.log, (error) => console.log(error.message));
       await say(searchTextTool().execute({ query: "foo", paths: ["src"] }));
       await say(searchFilesTool().execute({ pattern: "*" }));
       await say(searchTextTool().execute({ query: "foo", paths: [${JSON.stringify(root)}] }));
       await say(searchFilesTool().execute({ pattern: "*", path: ${JSON.stringify(root)} }));`,
    ],
    { cwd: gone, encoding: "utf8" },
  );
  rmSync(gone, { recursive: true, force: true });
  const reason =
    "is relative to the agent's working directory, which no longer exists. Pass an absolute path.";
  expect(stderr).toBe("");
  expect(stdout.replaceAll(`${root}/`, "").split("\n")).toEqual([
    ...[`"src" ${reason}`, `"." ${reason}`],
    ...["a.txt:1:foo", "[1 matching line (1 file); 1 file searched]"],
    ...["a.txt", "[1 file]", ""],
  ]);
});

test("loads only the tools on import, and the search engine with the first call", () => {
  const dist = new URL("../dist/index.js", import.meta.url).href;
  const script = `await import(${JSON.stringify(dist)});
    console.log(process.moduleLoadList.filter((name) => /worker_threads|fast-glob/.test(name)).join());`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(stdout.trim()).toBe("");
  expect(searchFilesTool().name).toBe("search_files");
});
