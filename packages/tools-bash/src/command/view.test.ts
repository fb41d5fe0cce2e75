import { readFileSync } from "node:fs";
import { ToolRegistry } from "@agent/core";
import { expect, onTestFinished, test } from "vitest";
import { runBashTool } from "../index.js";

function shell() {
  const tool = runBashTool();
  onTestFinished(() => tool.services.dispose());
  const registry = new ToolRegistry();
  registry.register(tool);
  registry.enable(tool.name);
  return registry;
}

test("reports what a command printed and its exit code", async () => {
  const { view } = await shell().run(
    "run_bash",
    { command: "printf out; echo err >&2; exit 3" },
    { wantsView: true },
  );
  expect(view).toEqual({ type: "output", text: "out\nerr\n", exitCode: 3 });
});

test("reports the end of a long output, with the file that holds all of it", async () => {
  const { view } = await shell().run("run_bash", { command: "seq 1 30000" }, { wantsView: true });
  if (view?.type !== "output") throw new Error("There is no output.");
  expect(view.text).toMatch(/\n30000\n$/);
  expect(view.more).toBeGreaterThan(0);
  const [file] = view.files ?? [];
  expect(file).toMatchObject({ label: "stdout", bytes: 168_894 });
  expect(readFileSync(file?.path ?? "", "utf8")).toMatch(/^1\n2\n/);
});

test("reports why a command was stopped, and no exit code", async () => {
  const { view, summary } = await shell().run(
    "run_bash",
    { command: "echo begun; sleep 60", timeout: 300 },
    { wantsView: true },
  );
  expect(summary).toContain("timed out");
  expect(view).toMatchObject({ type: "output", text: expect.stringMatching(/^begun\n\[timed out/) });
  expect(view).not.toHaveProperty("exitCode");
});

test("makes no view for a host that shows none", async () => {
  expect(await shell().run("run_bash", { command: "true" })).not.toHaveProperty("view");
});
