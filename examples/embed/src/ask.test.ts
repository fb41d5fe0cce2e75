import { join } from "node:path";
import { recordProvider, replayProvider, scriptedProvider, temporaryWorkspace } from "@agent/testing";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "./ask.js";

const SCRIPT = [{ calls: [{ name: "read_file", args: { path: "plan.txt" } }] }, "The plan is to rest."];

async function workspaceWithPlan(): Promise<string> {
  const workspace = await temporaryWorkspace({ "plan.txt": "Rest.\n" });
  onTestFinished(() => workspace.remove());
  return workspace.path;
}

test("streams the answer and shows the tool calls", async () => {
  const root = await workspaceWithPlan();
  const answers = [
    { calls: [{ name: "read_file", args: { path: join(root, "plan.txt") } }] },
    "The plan is to rest.",
  ];
  let output = "";
  await ask("What is the plan?", root, scriptedProvider(answers), (text) => {
    output += text;
  });
  expect(output).toBe("[read_file: ok]\nThe plan is to rest.\n");
});

test("replays a recorded conversation without a model", async () => {
  const root = await workspaceWithPlan();
  const recording = join(root, "recording.json");
  const run = async (provider: Parameters<typeof ask>[2]) => {
    let output = "";
    await ask("What is the plan?", root, provider, (text) => {
      output += text;
    });
    return output;
  };
  const recorded = await run(recordProvider(scriptedProvider(SCRIPT), recording));
  expect(await run(replayProvider(recording))).toBe(recorded);
});

test("gives the model tools that read, and none that write", async () => {
  const root = await workspaceWithPlan();
  let tools: string[] = [];
  const spy = scriptedProvider([
    (request) => {
      tools = request.tools.map((tool) => tool.function.name);
      return "ok";
    },
  ]);
  await ask("?", root, spy, () => undefined);
  expect(tools.sort()).toEqual(["list_dir", "read_file", "search_files", "search_text"]);
});
