import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "@agent/core";
import { runEvals } from "@agent/evals";
import { describePack, scriptedProvider, temporaryWorkspace } from "@agent/testing";
import { describe, expect, test } from "vitest";
import { greetsByName } from "../evals/greet.eval.js";
import * as pack from "../src/index.js";

// What every good pack promises, on the built pack: in the process of the agent, and in its own process, as users run it who
// added it with `agent pack add`.
for (const isolated of [false, true]) {
  describePack(new URL("../dist/index.js", import.meta.url), {
    describe,
    test,
    isolated,
    samples: {
      __PREFIX___greet: { who: "Ada" },
      __PREFIX___write_note: { path: "notes.txt", text: "hello" },
    },
  });
}

test("runs a whole chat: the model writes a note and reports it", async () => {
  const workspace = await temporaryWorkspace();
  const note = { path: join(workspace.path, "notes.txt"), text: "Buy milk" };
  const model = scriptedProvider([{ calls: [{ name: "__PREFIX___write_note", args: note }] }, "Noted."]);
  const agent = new Agent(model, {
    tools: [[pack, { root: workspace.path }]],
    enable: ["__PREFIX___write_note"],
  });
  expect(await agent.chat("Remember the milk.")).toBe("Noted.");
  expect(readFileSync(note.path, "utf8")).toBe("Buy milk\n");
  await workspace.remove();
});

test("keeps notes below the root", async () => {
  const workspace = await temporaryWorkspace();
  const agent = new Agent(scriptedProvider([]), {
    tools: [[pack, { root: workspace.path }]],
    enable: ["__PREFIX___write_note"],
  });
  const text = await agent.registry.execute("__PREFIX___write_note", { path: "../evil.txt", text: "x" });
  expect(text).toMatch(/^Error executing __PREFIX___write_note: .* is outside /);
  await workspace.remove();
});

// With a real model: npx agent eval evals --models openai/gpt-5-mini --runs 5
test("passes the checks of the eval with the scripted model", async () => {
  const report = await runEvals([greetsByName], { models: [{ name: "scripted" }] });
  expect(report.groups.flatMap(({ runs }) => runs)).toMatchObject([{ status: "passed" }]);
});
