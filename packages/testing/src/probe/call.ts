import { isAbsolute } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ExecutableTool, ToolRegistry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import { Collection } from "./collect.js";
import type { Answer, CallReport, Task } from "./messages.js";
import { extraResources } from "./snapshot.js";

const UNREF = { ref: false };
const QUIET_MS = 10_000;
const POLL_MS = 20;

/** Calls one tool of a pack through a registry, as an agent would, and watches `execute` itself as well. */
export async function callTool(task: Task): Promise<Answer> {
  const collection = new Collection(await import(task.module), task.options);
  const failures = collection.find(task.tool) ? [] : await collection.loadLate(task.settleMs);
  const entry = collection.find(task.tool);
  const done = entry ? await makeCalls(entry.tool, task) : notFound(task.tool, failures);
  const disposeError = await collection.dispose(task.settleMs).then(() => undefined, errorMessage);
  return { ...done, ...(disposeError !== undefined && { disposeError }) };
}

async function makeCalls(tool: ExecutableTool, task: Task): Promise<Answer> {
  // Resources opened by importing and registering are not counted here: other checks report them.
  const before = process.getActiveResourcesInfo();
  const directory = process.cwd();
  const calls: CallReport[] = [];
  for (const args of task.calls) calls.push(await oneCall(tool, args, task));
  const movedTo = process.cwd();
  // Before dispose(): many programs never call it, and must end all the same.
  const resources = await remainingResources(before);
  return { calls, resources, ...(movedTo !== directory && { movedTo }) };
}

function notFound(name: string, failures: readonly string[]): Answer {
  const reasons = failures.map((failure) => `; ${failure}`).join("");
  return { calls: [refused(`the pack registers no tool ${name}${reasons}`)], resources: [] };
}

/** The resources that the calls left open, after a moment to close them. */
async function remainingResources(before: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + QUIET_MS;
  let extra = extraResources(before);
  while (extra.length > 0 && Date.now() < deadline) {
    await sleep(POLL_MS);
    extra = extraResources(before);
  }
  return extra;
}

async function oneCall(
  tool: ExecutableTool,
  args: Readonly<Record<string, unknown>>,
  task: Task,
): Promise<CallReport> {
  const registry = new ToolRegistry({ deadlineMs: task.settleMs });
  const watched = watch(tool);
  try {
    registry.register(watched.tool);
  } catch (error) {
    return refused(errorMessage(error));
  }
  const controller = new AbortController();
  const descriptionProblem = task.kind === "call" ? await findDescriptionProblem(tool, args) : undefined;
  const running = registry.run(tool.name, { ...args }, { signal: controller.signal });
  if (task.kind === "abort") {
    const early = await Promise.race([running, abortTime(watched.begun, task.abortAfterMs)]);
    if (early === undefined) controller.abort();
  }
  const { outcome, text } = await running;
  const settled = await Promise.race([
    watched.settled(),
    sleep(task.settleMs, undefined, UNREF).then(() => false),
  ]);
  return {
    outcome,
    text: text.slice(0, 2000),
    settled,
    ...watched.result(),
    ...(descriptionProblem !== undefined && { descriptionProblem }),
  };
}

/** Resolves when it is time to abort: `afterMs` after the tool has begun. */
async function abortTime(begun: Promise<void>, afterMs: number): Promise<void> {
  await begun;
  await sleep(afterMs, undefined, UNREF);
}

function watch(tool: ExecutableTool) {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let execution: Promise<unknown> = Promise.resolve();
  let returned: CallReport["returned"] = "nothing yet";
  let bytes = 0;
  const wrapped: ExecutableTool = {
    name: tool.name,
    ...(tool.deadlineMs !== undefined && { deadlineMs: tool.deadlineMs }),
    getSchema: () => tool.getSchema(),
    execute: (args, call) => {
      begin();
      const result = new Promise<string>((resolve) => resolve(tool.execute(args, call)));
      execution = result.then(
        (text: unknown) => {
          returned = typeof text === "string" ? "string" : describeValue(text);
          bytes = typeof text === "string" ? Buffer.byteLength(text) : 0;
        },
        () => {
          returned = "an error";
        },
      );
      return result;
    },
  };
  return {
    tool: wrapped,
    /** Resolves when `execute` is called. */
    begun,
    settled: () => execution.then(() => true),
    result: () => ({ returned, bytes }),
  };
}

function refused(refusal: string): CallReport {
  return { refusal, outcome: "error", text: refusal, returned: "nothing yet", bytes: 0, settled: true };
}

const DESCRIBE_MS = 2000;
const PREVIEW_MS = 5000;
const MAX_DESCRIPTION_BYTES = 64 * 1024;

/** What is wrong with the description or the preview of a call. Core leaves out a wrong one without a word. */
async function findDescriptionProblem(
  tool: ExecutableTool,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const parsed = (await tool.parseArguments?.({ ...args })) ?? { value: { ...args } };
  if ("problem" in parsed) return undefined;
  for (const [method, limit] of [
    ["describeCall", DESCRIBE_MS],
    ["previewCall", PREVIEW_MS],
  ] as const) {
    const problem = await describingProblem(tool, method, parsed.value, limit);
    if (problem !== undefined) return `${method}() ${problem}`;
  }
  return undefined;
}

async function describingProblem(
  tool: ExecutableTool,
  method: "describeCall" | "previewCall",
  args: Record<string, unknown>,
  limit: number,
): Promise<string | undefined> {
  const describe = tool[method] as
    | ((args: Record<string, unknown>, options: { readonly signal: AbortSignal }) => unknown)
    | undefined;
  if (!describe) return undefined;
  const before = JSON.stringify(args);
  const stop = new AbortController();
  const late = Symbol("late");
  try {
    const described = new Promise<unknown>((resolve) =>
      resolve(describe.call(tool, args, { signal: stop.signal })),
    );
    const found = await Promise.race([described, sleep(limit, late, UNREF)]);
    if (found === late) return `took longer than ${limit} ms`;
    if (JSON.stringify(args) !== before) return "changed the arguments";
    if (found === undefined) return method === "describeCall" ? "returned nothing" : undefined;
    if (typeof found !== "object" || found === null) return `returned ${describeValue(found)}`;
    const bytes = Buffer.byteLength(JSON.stringify(found));
    if (bytes > MAX_DESCRIPTION_BYTES) return `returned ${bytes} bytes of JSON`;
    const { targets = [] } = found as { targets?: readonly { type?: string; path?: unknown }[] };
    const relative = targets.find(({ type, path }) => type === "file" && !isAbsolute(String(path)));
    return relative && `named the file ${describeValue(relative.path)}, which is not an absolute path`;
  } catch (error) {
    return `failed: ${errorMessage(error)}`;
  } finally {
    stop.abort();
  }
}
