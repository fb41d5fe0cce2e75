// What a journal adds to a step: the time of a run of 50 turns less that of the same run without a journal, right before it.
import { startRun, startWorker } from "../../../packages/durable/dist/index.js";
import { createAgent, definition, openEngine, STEPS_PER_TURN } from "./runs.mjs";
import { isDone } from "./workers.mjs";

const TURNS = 50;
const WORK = "a step, over the agent alone";

/** One run at a time in this process. */
export async function overhead({ report, stores, sizes }) {
  for (const { who, isFiles, address } of stores()) {
    const engine = await openEngine(address);
    const spent = [];
    const journaled = stopwatch();
    const timed = definition(journaled.see);
    const worker = await startWorker(engine, { definitions: [timed], concurrency: 1 });
    for (let round = -2; round < sizes.rounds; round++) {
      const alone = stopwatch();
      await createAgent({ turns: TURNS }, {}, alone.see).chat("go");
      await isDone(engine, await startRun(engine, timed, { turns: TURNS }));
      const steps = (TURNS - 1) * STEPS_PER_TURN;
      if (round >= 0) spent.push((journaled.ms() - alone.ms()) / steps);
    }
    report.add({ work: WORK, who, unit: "ms", reach: isFiles ? "≤ 0.5" : "≤ 1.0", values: spent });
    await worker.close();
    await engine.close();
  }
}

/** The time between the first tool call and the last. */
function stopwatch() {
  let first = 0;
  let last = 0;
  return {
    see: ({ n }) => {
      if (n === 0) first = performance.now();
      if (n === TURNS - 1) last = performance.now();
    },
    ms: () => last - first,
  };
}

/** The same steps as a graph of two nodes, each saved by its checkpointer before the next. */
export async function langgraph({ report, servers, sizes }) {
  const loaded = await Promise.all([
    import("@langchain/langgraph"),
    import("@langchain/langgraph-checkpoint-postgres"),
  ]).catch(() => undefined);
  if (loaded === undefined) return report.leaveOut("LangGraph", "not installed");
  const [{ Annotation, StateGraph }, { PostgresSaver }] = loaded;
  const saver = PostgresSaver.fromConnString(servers.postgres);
  await saver.setup();
  const State = Annotation.Root({
    messages: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }),
    turn: Annotation({ reducer: (_, turn) => turn, default: () => 0 }),
  });
  const graph = (checkpointer) =>
    new StateGraph(State)
      .addNode("model", ({ turn }) => ({ messages: [{ role: "assistant", call: turn }] }))
      .addNode("tool", ({ turn }) => ({
        messages: [{ role: "tool", text: `wrote ${turn}` }],
        turn: turn + 1,
      }))
      .addEdge("__start__", "model")
      .addEdge("model", "tool")
      .addConditionalEdges("tool", ({ turn }) => (turn < TURNS ? "model" : "__end__"))
      .compile(checkpointer ? { checkpointer } : {});
  const [plain, saved] = [graph(), graph(saver)];
  const spent = [];
  for (let round = -1; round < Math.max(3, sizes.rounds / 3); round++) {
    const time = async (run) => {
      const before = performance.now();
      await run();
      return performance.now() - before;
    };
    const alone = await time(() => plain.invoke({}, { recursionLimit: 1000 }));
    const configurable = { thread_id: `bench-${round}` };
    const journaled = await time(() =>
      saved.invoke({}, { recursionLimit: 1000, durability: "sync", configurable }),
    );
    if (round >= 0) spent.push((journaled - alone) / (TURNS * STEPS_PER_TURN));
  }
  await saver.end();
  report.add({ work: WORK, who: "LangGraph, PostgresSaver", unit: "ms", values: spent });
}
