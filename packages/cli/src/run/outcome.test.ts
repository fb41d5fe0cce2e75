import type { Mode } from "@agent/core/host";
import { expect, test } from "vitest";
import { OutcomeWatcher } from "./outcome.js";

test.each([
  ["a tool that is off", "edits", "Tool not available: edit", " Turn it on with --enable edit."],
  ["a tool that plan mode turned off", "plan", "Tool not available: edit", " Plan mode turned it off."],
  ["a tool that another one replaces", "edits", "Tool not available: edit (use patch)", ""],
] as const)("names what turns on %s", (_, mode: Mode, text, hint) => {
  const watcher = new OutcomeWatcher(() => mode);
  watcher.see({ type: "tool_end", id: "1", name: "edit", outcome: "not_available", text, durationMs: 1 });
  expect(watcher.finished()).toEqual({
    exitCode: 3,
    error: `The last tool call failed: edit (not available).${hint}`,
  });
});
