import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent } from "@agent/core";
import { expect, onTestFinished, test } from "vitest";
import { runShellLine } from "./shellLine.js";

/** Runs a line; `printed` is called when it has printed something. */
async function run(command: string, printed = (): void => undefined, stop = new AbortController().signal) {
  const events: AgentEvent[] = [];
  let output = "";
  const note = await runShellLine(
    command,
    (event) => {
      events.push(event);
      if (event.type !== "tool_output") return;
      output += event.chunk;
      printed();
    },
    stop,
    "shell-1",
  );
  return { note, output, end: events.at(-1) };
}

test("reports a line as a call, and informs the model what it printed and how it ended", async () => {
  const { note, output, end } = await run("echo one; echo two >&2; exit 3");
  expect(output.split("\n").sort()).toEqual(["", "one", "two"]);
  expect(end).toMatchObject({ type: "tool_end", name: "!", outcome: "error", summary: "exit code 3" });
  expect(note).toMatch(
    /^The user ran this command: echo one;.*\n<output>\n.*\n.*\n<\/output>\n\(exit code 3\)$/,
  );
});

test.each([
  ["longer than the system takes", `echo ${"x".repeat(300_000)}`],
  ["with a NUL character", "echo a\0b"],
])("reports a line %s as a call that failed, and the chat continues", async (_, command) => {
  const { note, end } = await run(command);
  expect(end).toMatchObject({ type: "tool_end", outcome: "error" });
  expect(note).toContain("The user ran this command: echo");
});

test("shows whole a character that is printed in two pieces", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-shell-line-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "go");
  const { output, note } = await run(
    `printf 'a\\346\\227'; while [ ! -e ${file} ]; do sleep 0.05; done; printf '\\245\\n'`,
    () => writeFileSync(file, ""),
  );
  expect(output).toBe("a日\n");
  expect(note).toContain("\na日\n");
});

test("kills a line that ignores SIGTERM", async () => {
  const stop = new AbortController();
  const { end } = await run(
    "trap '' TERM; echo ready; while :; do sleep 0.1; done",
    () => stop.abort(),
    stop.signal,
  );
  expect(end).toMatchObject({ outcome: "error", summary: "killed by SIGKILL" });
});
