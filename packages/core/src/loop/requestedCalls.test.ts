import { expect, test } from "vitest";
import { toolNameHint } from "./requestedCalls.js";

const names = (count: number) => Array.from({ length: count }, (_, at) => `tool_${at}`);

test("lists at most forty tools after an unknown name", () => {
  expect(toolNameHint("other", [])).toBe("There are no tools.");
  expect(toolNameHint("other", names(40))).toMatch(/^The tools are: tool_0, .*tool_39\.$/);
  expect(toolNameHint("other", names(41))).toMatch(/tool_39 and 1 more\.$/);
});

test.each([
  ["read", ["read_file", "web_search"], 'Did you mean "read_file"?'],
  ["file", ["read_file", "write_file"], 'Did you mean "read_file" or "write_file"?'],
  ["functions.read_fiel", ["read_file", "web_search"], 'Did you mean "read_file"?'],
])("names the tools that %s may mean", (name, tools, hint) => {
  expect(toolNameHint(name, tools)).toBe(`${hint} The tools are: ${tools.join(", ")}.`);
});
