import { expect, test } from "vitest";
import { didYouMean, nearestMatch } from "./nearest.js";

const TOOLS = ["read_file", "write_file", "run_bash", "remove", "move"];

test.each([
  ["run_bsh", "run_bash"],
  ["run_bahs", "run_bash"],
  ["RUN_BASH", "run_bash"],
  ["rm_bash", "run_bash"],
  ["readfile", "read_file"],
  ["mvoe", "move"],
  ["mov", "move"],
  ["remove", "remove"],
  ["Remove", "remove"],
])("corrects %s to %s", (name, meant) => {
  expect(nearestMatch(name, TOOLS)).toBe(meant);
});

test.each(["", "x", "delete", "search_text", "zzzzzzzz", "r".repeat(100_000)])(
  "finds nothing like %.20s",
  (name) => {
    expect(nearestMatch(name, TOOLS)).toBeUndefined();
  },
);

test("finds nothing if there is nothing to choose from", () => {
  expect(nearestMatch("a", [])).toBeUndefined();
});

test("takes the first of two equally near names", () => {
  expect(nearestMatch("cat", ["bat", "rat"])).toBe("bat");
});

test("takes the name itself as nearest, however long it is and whatever differs only in case", () => {
  const long = "r".repeat(200);
  expect(nearestMatch(long, [long.toUpperCase(), long])).toBe(long);
  expect(nearestMatch("b", ["B", "b"])).toBe("b");
});

test.each([
  ["run_bsh", ["run_bash", "mkdir"], 'Did you mean "run_bash"?'],
  ["xyzzy", ["run_bash", "mkdir"], 'Known: "run_bash", "mkdir".'],
  ["xyzzy", [], "Known: none."],
  ["a\u202e", ["a\u202eb"], 'Did you mean "a\\u202eb"?'],
])("answers the unknown name %j among %j with %j", (name, known, help) => {
  expect(didYouMean(name, known)).toBe(help);
});

test("lets a caller format the names, and use another message if none is close", () => {
  const show = (name: string) => `--${name}`;
  expect(didYouMean("pth", ["path", "query"], { show })).toBe("Did you mean --path?");
  expect(didYouMean("xyzzy", ["path", "query"], { show })).toBe("Known: --path, --query.");
  expect(didYouMean("xyzzy", ["path"], { otherwise: "See the list." })).toBe("See the list.");
});
