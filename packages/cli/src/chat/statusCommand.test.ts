import type { Status } from "@agent/terminal/host";
import { expect, test } from "vitest";
import { runStatusCommand } from "./statusCommand.js";

const STATUS: Status = {
  mode: "edits",
  model: "gpt-5",
  directory: "/srv",
  tokens: { input: 1, cached: 0, output: 2 },
  jobs: 0,
};

test.each([
  ["prints the first line it prints", "echo one; echo two", "one"],
  ["gives it the status as JSON", `sed 's/.*"model":"\\([^"]*\\)".*/\\1/'`, "gpt-5"],
  [
    "drops colours, and shows what is invisible",
    "printf '\\033[31mred\\033[0m\\342\\200\\256\\n'",
    "red\\u202e",
  ],
  ["says that it failed", "exit 3", "statusLine: exit code 3"],
  ["ends a command that prints forever", "yes", "y"],
  ["cuts a line without an end", "tr '\\0' x < /dev/zero", "x".repeat(4096)],
])("%s", async (_, command, shown) => {
  expect(await runStatusCommand(command, STATUS)).toBe(shown);
});

test("ends a command that takes too long, with what it started", async () => {
  expect(await runStatusCommand("sleep 1000 | cat", STATUS, 50)).toBe("statusLine: no output in 2 seconds");
});
