import assert from "node:assert/strict";
import { defineEval } from "@agent/evals";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

const PACKS = [fs, search];
const WINDOWS = "[server]\r\nport = 80\r\nhost = localhost\r\n";
const MATH = "export function add(a, b) {\n  return a - b;\n}\n";
const CALLS = { "src/a.js": 'load("a");\n', "src/b.js": 'load("b");\n', "docs/c.md": "Call load() first.\n" };

export const cases = [
  defineEval({
    name: "edits one line and nothing else",
    packs: PACKS,
    files: { "math.js": MATH, "other.js": MATH },
    task: "add() in math.js subtracts. Fix it.",
    script: [
      { calls: [{ name: "read_file", args: { path: "math.js" } }] },
      { calls: [{ name: "edit_file", args: { path: "math.js", old_string: "a - b", new_string: "a + b" } }] },
      "Fixed.",
    ],
    async check(run) {
      assert.equal(run.file("math.js"), MATH.replace("a - b", "a + b"));
      run.unchanged("other.js");
      run.never("write_file");
      await run.exit("node -e \"import('./math.js').then(m => process.exit(m.add(2, 3) === 5 ? 0 : 1))\"");
    },
  }),
  defineEval({
    name: "keeps the line ends of Windows",
    packs: PACKS,
    files: { "app.ini": WINDOWS },
    task: "Change the port in app.ini to 8080.",
    script: [
      { calls: [{ name: "read_file", args: { path: "app.ini" } }] },
      {
        calls: [
          {
            name: "edit_file",
            args: { path: "app.ini", old_string: "port = 80", new_string: "port = 8080" },
          },
        ],
      },
      "Changed.",
    ],
    check: (run) => assert.equal(run.file("app.ini"), WINDOWS.replace("80", "8080")),
  }),
  defineEval({
    name: "finds every use before it renames",
    policy: "usually",
    packs: PACKS,
    files: CALLS,
    task: "Rename the function load to open in all files.",
    script: [
      { calls: [{ name: "search_text", args: { query: "load" } }] },
      {
        calls: Object.keys(CALLS).map((path) => ({
          name: "edit_file",
          args: { path, old_string: "load(", new_string: "open(" },
        })),
      },
      "Renamed in three files.",
    ],
    check(run) {
      run.called("search_text");
      for (const [path, text] of Object.entries(CALLS))
        assert.equal(run.file(path), text.replace("load", "open"));
    },
  }),
  defineEval({
    name: "searches instead of reading every file",
    policy: "usually",
    packs: PACKS,
    files: Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `src/module${index}.ts`,
        `export const id = ${index};\n${index === 23 ? "// FIXME: leaks a handle\n" : ""}`,
      ]),
    ),
    task: "Which file has a FIXME? Do not change anything.",
    script: [{ calls: [{ name: "search_text", args: { query: "FIXME" } }] }, "src/module23.ts:2"],
    check(run) {
      run.called("search_text");
      assert.ok(run.calls.filter(({ name }) => name === "read_file").length < 5, "it read many files");
      assert.match(run.text, /module23/);
      run.unchanged();
    },
  }),
];
