// The process in which a pack is examined: it gets one task, answers it, and exits.
import { setImmediate } from "node:timers/promises";
import { callTool } from "./call.js";
import { Collection } from "./collect.js";
import { inspect } from "./inspect.js";
import { loadPack } from "./loadPack.js";
import type { Answer, LateTools, Task } from "./messages.js";
import { describeTool } from "./seenTool.js";

const FAILED = 70;

// Open both streams now: Node creates them on first access, and a tool that accesses them must not seem to open a handle.
void process.stdout;
void process.stderr;

// Use `on`, not `once`: without a listener the IPC channel would not keep this process alive while a tool runs.
process.on("message", (task: Task) => {
  answer(task).then(
    // Exit although handles may be open: the answer lists them.
    (result) => process.send?.(result, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(FAILED);
    },
  );
});

async function answer(task: Task): Promise<Answer> {
  const result = await perform(task);
  // Unhandled rejections are raised at the end of an event loop turn: wait for one.
  await setImmediate();
  return result;
}

async function perform(task: Task): Promise<Answer> {
  if (task.kind === "inspect") return { inspection: await inspect(task), resources: [] };
  if (task.kind === "loadLate") return { late: await loadLateTools(task), resources: [] };
  return await callTool(task);
}

/** Registers the pack and loads the tools that it announced for later. */
async function loadLateTools(task: Task): Promise<LateTools> {
  const { options, settleMs } = task;
  const collection = new Collection(await loadPack(task), options);
  const known = new Set(collection.tools);
  const failures = await collection.loadLate(settleMs);
  const tools = collection.tools.filter((entry) => !known.has(entry)).map(describeTool);
  await collection.dispose(settleMs).catch(() => undefined); // the check of leftovers reports it
  return { tools, failures };
}
