import { Agent, type AgentOptions, defineTool, type ExecutableTool } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { expect, test } from "vitest";
import { eventsOf, follow, openEngine, temporaryDirectory, workWith } from "../../test/helpers.js";
import type { RunEngine } from "../engine/engine.js";
import { scheduleRun } from "../engine/schedule.js";
import { startRun } from "../engine/startRun.js";
import { forkRun, stepsOf } from "../journal/forkRun.js";
import type { RunContext, RunDefinition } from "./definition.js";

const input = { type: "object", properties: {} } as const;
const call = (name: string) => ({ calls: [{ name, args: {} }] });

function tool(name: string, execute: () => Promise<string> | string) {
  return defineTool({
    name,
    description: name,
    input,
    capabilities: ["write"],
    execute: async () => await execute(),
  });
}

/** A definition whose model answers by how far the conversation is, whichever steps were replayed. */
function scripted(
  answers: readonly ScriptedAnswer[],
  tools: readonly ExecutableTool[] = [],
  options: (run: RunContext) => AgentOptions = () => ({}),
): RunDefinition {
  return {
    name: "scripted",
    version: "1",
    create(run) {
      const provider = {
        model: "scripted",
        respond: async (request: Parameters<ReturnType<typeof scriptedProvider>["respond"]>[0]) => {
          const turn = request.messages.filter(({ role }) => role === "assistant").length;
          const response = await scriptedProvider(answers.slice(turn)).respond(request);
          const toolCalls = response.toolCalls.map((one) => ({ ...one, id: `call_${turn}` }));
          return { ...response, toolCalls };
        },
      };
      const agent = new Agent(provider, { steps: run.steps, ...options(run) });
      for (const tool of tools) agent.addTool(tool);
      return { agent, message: "go" };
    },
  };
}

async function textsOf(engine: RunEngine, id: string): Promise<string[]> {
  const events = eventsOf(await follow(engine, id));
  return events.flatMap((event) => (event.type === "text" ? [event.text] : []));
}

test("delivers a message to a running run after its next answer, and again when the run is replayed", async () => {
  const directory = temporaryDirectory();
  const engine = openEngine(directory);
  const id = "steered-run";
  const write = tool("write", async () => {
    await engine.send(id, "Use the other branch.");
    return "wrote";
  });
  const definition = scripted(
    [call("write"), call("stop"), "Done."],
    [write, tool("stop", () => "stopped")],
    (run) => ({
      approve: (request) => (request.name === "stop" ? run.approve(request) : "allow"),
    }),
  );
  const worker = await workWith(engine, definition);
  await startRun(engine, definition, {}, { id });
  await follow(engine, id, "waiting");
  await worker.close();
  await engine.close();

  const later = openEngine(directory);
  await workWith(later, definition);
  const [approval] = (await later.get(id))?.approvals ?? [];
  expect(await later.decide(id, approval?.key ?? "", "allow")).toBe(true);
  const events = eventsOf(await follow(later, id));
  const types = events.map(({ type }) => type);
  expect(events.filter(({ type }) => type === "steered")).toMatchObject([
    { type: "steered", content: "Use the other branch." },
  ]);
  // The first answer had been given before the message came, so it came with the second one.
  expect(types.indexOf("steered")).toBeGreaterThan(types.lastIndexOf("tool_requested"));
  expect(await later.get(id)).toMatchObject({ state: "done", result: { text: "Done." } });
});

test("continues a finished run with a message in the same conversation, and adds up what it used", async () => {
  const engine = openEngine();
  const definition = scripted(["First.", "Second.", "Third."]);
  await workWith(engine, definition);
  const id = await startRun(engine, definition, {});
  await follow(engine, id);
  expect(await engine.send(id, "And then?")).toBe(true);
  await follow(engine, id);
  expect(await engine.send(id, "And at last?")).toBe(true);
  expect(await textsOf(engine, id)).toEqual(["First.", "Second.", "Third."]);
  expect(await engine.get(id)).toMatchObject({ state: "done", epoch: 3, result: { text: "Third." } });
  const steps = stepsOf(await engine.journal(id));
  expect(steps.map(({ key }) => key)).toEqual(["1/answer.1", "+1/1/answer.1", "+2/1/answer.1"]);
});

test("copies the steps and messages up to a point into a fork, and repeats none of their calls", async () => {
  const engine = openEngine();
  let writes = 0;
  const write = tool("write", () => `wrote ${++writes}`);
  const definition = scripted([call("write"), "First.", "Second."], [write]);
  await workWith(engine, definition);
  const id = await startRun(engine, definition, {});
  await follow(engine, id);
  await engine.send(id, "And then?");
  await follow(engine, id);
  expect(writes).toBe(1);

  const early = await forkRun(engine, id, { steps: 2 });
  expect(await textsOf(engine, early)).toEqual(["First."]);
  expect((await engine.get(early))?.messages).toEqual([]);
  const whole = await forkRun(engine, id);
  await follow(engine, whole);
  expect(await engine.get(whole)).toMatchObject({ result: { text: "Second." }, messages: ["And then?"] });
  expect(writes).toBe(1);
});

test("starts the runs of a schedule, and reports when a run has left it", async () => {
  const engine = openEngine();
  const definition = scripted(["Done."]);
  const run = { definition: "scripted", version: "1", tenant: "t", labels: [], priority: 0, input: {} };
  await scheduleRun(engine, { id: "tick", cron: "* * * * * *", overlap: "allow", run });
  const ended: string[] = [];
  const first = new Promise<void>((resolve) => {
    const onEnded = ({ id }: { readonly id: string }, { state }: { readonly state: string }): void => {
      ended.push(`${id.split("-")[0]} ${state}`);
      resolve();
    };
    void workWith(engine, definition, { onEnded });
  });
  await first;
  expect(ended[0]).toBe("tick done");
});
