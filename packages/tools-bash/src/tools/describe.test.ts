import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeNow } from "@agent/test-support";
import { expect, onTestFinished, test } from "vitest";
import { runBashTool } from "./bash.js";

const describeCall = (args: Record<string, unknown>, options = {}) => describeNow(runBashTool(options), args);

test("lists every command of a script, those inside wrappers too", () => {
  expect(describeCall({ command: "npm test && env touch x; sh -c 'rm y'" }).targets).toEqual([
    { type: "command", text: "npm test" },
    { type: "command", text: "env touch x", open: true },
    { type: "command", text: "touch x" },
    { type: "command", text: "sh -c 'rm y'", open: true },
    { type: "command", text: "rm y" },
  ]);
});

test("names another directory, and marks a call with variables or arguments as open", () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "agent-elsewhere-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  expect(describeCall({ command: "npm test", cwd: elsewhere })).toEqual({
    targets: [{ type: "command", text: "npm test", cwd: elsewhere }],
    always: [],
  });
  expect(describeCall({ command: "npm test", env: { A: "b c" } }).targets).toEqual([
    { type: "command", text: "A='b c' npm test", open: true },
  ]);
  expect(describeCall({ command: "npm test", arguments: ["x"] }).targets).toEqual([
    { type: "command", text: "npm test", open: true },
    { type: "text", text: "x", open: true },
  ]);
  expect(describeCall({ command: "npm test", env: { "a b": "c" } }).targets).toContainEqual({
    type: "text",
    text: "a b",
    open: true,
  });
});

test("reports what the tool would refuse", () => {
  expect(describeCall({ command: "env rm x" }, { deny: ["rm *"] }).refusal).toMatch(
    /matches the deny rule "rm"\. Nothing was run\.$/,
  );
  expect(describeCall({ command: "ls" }, { allow: ["git *"] }).refusal).toMatch(/is not on the allow list/);
  expect(describeCall({ command: "git log" }, { allow: ["git *"] }).refusal).toBeUndefined();
  expect(describeCall({ command: " " }).refusal).toMatch(/must not be blank/);
  expect(describeCall({ command: "ls", cwd: "/does/not/exist" }).refusal).toMatch(/does not exist/);
});
