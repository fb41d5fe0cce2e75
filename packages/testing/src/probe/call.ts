import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallDescription,
  type CallTarget,
  type ChildAgentAnswer,
  type ChildAgentRequest,
  Conversation,
  type ExecutableTool,
  type PermissionLanguage,
  type ToolCall,
  type ToolPack,
  ToolRegistry,
  type ToolReport,
} from "@agent/core";
import { readDescription, readPreview, readValue, readView } from "@agent/core/host";
import { errorMessage, isInside } from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import { Activity } from "./activity.js";
import { Collection, STORAGE } from "./collect.js";
import { createHost } from "./host.js";
import { loadPack } from "./loadPack.js";
import type { Answer, CallReport, Task } from "./messages.js";
import { extraResources } from "./snapshot.js";

const UNREF = { ref: false };
const QUIET_MS = 10_000;
const POLL_MS = 20;

/** Calls one tool of a pack through a registry, like an agent, and observes `execute` itself as well. */
export async function callTool(task: Task): Promise<Answer> {
  const collection = collectWithState(await loadPack(task), task.options);
  const failures = collection.find(task.tool) ? [] : await collection.loadLate(task.settleMs);
  const entry = collection.find(task.tool);
  const done = entry ? await makeCalls(entry.tool, collection, task) : notFound(task.tool, failures);
  const disposeError = await collection.dispose(task.settleMs).then(() => undefined, errorMessage);
  return { ...done, ...(disposeError !== undefined && { disposeError }) };
}

/** With its own conversation, the pack has a state, which core limits. */
function collectWithState(pack: ToolPack, options: unknown): Collection {
  try {
    return new Collection(pack, options, { ...createHost(options), context: new Conversation() });
  } catch {
    // Another check reports that the pack needs a host without a state.
    return new Collection(pack, options);
  }
}

async function makeCalls(tool: ExecutableTool, collection: Collection, task: Task): Promise<Answer> {
  // Resources opened by importing and registering are not counted here: other checks report them.
  const before = process.getActiveResourcesInfo();
  const directory = process.cwd();
  const calls: CallReport[] = [];
  const activity = new Activity(task.module);
  for (const args of task.calls) {
    let report = refused("it was not called");
    await activity.during(async () => {
      report = await oneCall(tool, args, collection, task);
    });
    const { connections } = activity;
    calls.push({ ...report, ...(connections.length > 0 && { connections }) });
  }
  const movedTo = process.cwd();
  // Before dispose(): many programs never call it, and must still exit. The process of an isolated pack stays until
  // dispose(), and keeps no program alive.
  const resources = task.isolated ? [] : await remainingResources(before);
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
  collection: Collection,
  task: Task,
): Promise<CallReport> {
  const registry = new ToolRegistry({ deadlineMs: task.settleMs });
  const watched = watch(tool, collection);
  try {
    registry.register(watched.tool);
  } catch (error) {
    return refused(errorMessage(error));
  }
  const controller = new AbortController();
  const described = task.kind === "call" ? await describeAll(tool, args) : {};
  const files = listFiles();
  const running = registry.run(tool.name, { ...args }, { signal: controller.signal, wantsView: true });
  if (task.kind === "abort") {
    const early = await Promise.race([running, abortTime(watched.begun, task.abortAfterMs)]);
    if (early === undefined) controller.abort();
  }
  const { outcome, text } = await running;
  const settled = await Promise.race([
    watched.settled(),
    sleep(task.settleMs, undefined, UNREF).then(() => false),
  ]);
  const descriptionProblem = described.problem ?? undescribedChange(described.targets, files, tool);
  const nestedProblem = watched.nestedProblem();
  const reportProblem = watched.reportProblem();
  return {
    outcome,
    text: text.slice(0, 2000),
    settled,
    ...watched.result(),
    ...(descriptionProblem !== undefined && { descriptionProblem }),
    ...(nestedProblem !== undefined && { nestedProblem }),
    ...(watched.hasNested() && { hasNested: true }),
    ...(reportProblem !== undefined && { reportProblem }),
  };
}

/** Resolves when it is time to abort: `afterMs` after the tool has begun. */
async function abortTime(begun: Promise<void>, afterMs: number): Promise<void> {
  await begun;
  await sleep(afterMs, undefined, UNREF);
}

function watch(tool: ExecutableTool, collection: Collection) {
  const nested = new NestedCalls(collection);
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let execution: Promise<unknown> = Promise.resolve();
  let returned: CallReport["returned"] = "nothing yet";
  let bytes = 0;
  let reportProblem: string | undefined;
  const wrapped: ExecutableTool = {
    name: tool.name,
    ...(tool.deadlineMs !== undefined && { deadlineMs: tool.deadlineMs }),
    getSchema: () => tool.getSchema(),
    execute: (args, call) => {
      begin();
      const result = new Promise<string>((resolve) =>
        resolve(tool.execute(args, call && nested.offerTo(watchReports(call)))),
      );
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
  const watchReports = (call: ToolCall): ToolCall => ({
    ...call,
    signal: call.signal,
    report: (status) => {
      reportProblem ??= findReportProblem(status);
      call.report?.(status);
    },
  });
  return {
    tool: wrapped,
    /** Resolves when `execute` is called. */
    begun,
    nestedProblem: () => nested.problem,
    hasNested: () => nested.isUsed,
    reportProblem: () => reportProblem,
    settled: () => execution.then(() => true),
    result: () => ({ returned, bytes }),
  };
}

const unchanged = (text: string): string => text;

/** Why core would drop the view or the value of a report; `undefined` if it accepts both. */
function findReportProblem({ view, value }: ToolReport): string | undefined {
  try {
    if (view !== undefined) readView(view, unchanged);
    if (value === undefined || readValue(value, unchanged) !== undefined) return undefined;
    return `the value has ${JSON.stringify(value).length} bytes of JSON`;
  } catch (error) {
    return errorMessage(error);
  }
}

function refused(refusal: string): CallReport {
  return { refusal, outcome: "error", text: refusal, returned: "nothing yet", bytes: 0, settled: true };
}

const DESCRIBE_MS = 2000;
const PREVIEW_MS = 5000;
const PATTERNS = ["*", "a *", "=a"];
const MATCHES: readonly unknown[] = ["covers", "touches", "maybe", "none"];

interface Described {
  /** The problem with the description, the preview or the patterns. Core silently ignores an invalid one. */
  readonly problem?: string;
  readonly targets?: readonly CallTarget[] | undefined;
}

async function describeAll(
  tool: ExecutableTool,
  args: Readonly<Record<string, unknown>>,
): Promise<Described> {
  const parsed = (await tool.parseArguments?.({ ...args })) ?? { value: { ...args } };
  if ("problem" in parsed) return {};
  let targets: readonly CallTarget[] | undefined;
  for (const [method, limit] of [
    ["describeCall", DESCRIBE_MS],
    ["previewCall", PREVIEW_MS],
  ] as const) {
    const { problem, found } = await describeOnce(tool, method, parsed.value, limit);
    if (problem !== undefined) return { problem: `${method}() ${problem}` };
    if (method === "describeCall") targets = (found as CallDescription | undefined)?.targets;
  }
  const problem = await patternProblem(tool.permissions, targets ?? []);
  return problem === undefined ? { targets } : { problem };
}

/** The problem with the tool's own patterns, tested on the targets of a call. */
async function patternProblem(
  permissions: PermissionLanguage | undefined,
  targets: readonly CallTarget[],
): Promise<string | undefined> {
  if (!permissions) return undefined;
  const late = Symbol("late");
  const soon = async <T>(work: () => T | Promise<T>): Promise<T | typeof late> =>
    await Promise.race([new Promise<T>((resolve) => resolve(work())), sleep(DESCRIBE_MS, late, UNREF)]);
  try {
    for (const pattern of PATTERNS) {
      if ((await soon(() => permissions.check(pattern))) === late) {
        return `permissions.check() took longer than ${DESCRIBE_MS} ms`;
      }
    }
    const rows = await soon(() => permissions.match(PATTERNS, targets));
    if (rows === late) return `permissions.match() took longer than ${DESCRIBE_MS} ms`;
    const isWhole =
      Array.isArray(rows) &&
      rows.length === PATTERNS.length &&
      rows.every(
        (row) => row.length === targets.length && row.every((match: unknown) => MATCHES.includes(match)),
      );
    if (!isWhole) return `permissions.match() returned ${describeValue(rows)}`;
    const covered = targets.findIndex(
      (target, at) => target.open && rows.some((row) => row[at] === "covers"),
    );
    return covered === -1
      ? undefined
      : `permissions.match() says "covers" for target ${covered}, which is open: it may do more than its text says`;
  } catch (error) {
    return `permissions failed: ${errorMessage(error)}`;
  }
}

/** A file that a call changed although its targets do not name it. Commands may change anything. */
function undescribedChange(
  targets: readonly CallTarget[] | undefined,
  before: ReadonlyMap<string, string>,
  { capabilities = [] }: ExecutableTool,
): string | undefined {
  if (targets === undefined || capabilities.includes("execute")) return undefined;
  const after = listFiles();
  const changed = [...new Set([...before.keys(), ...after.keys()])].find(
    (path) => before.get(path) !== after.get(path) && !targets.some((target) => changes(target, path)),
  );
  return changed === undefined
    ? undefined
    : `describeCall() is wrong: the call changed ${describeValue(changed)}, which no target with access "write" or "delete" names`;
}

function changes(target: CallTarget, path: string): boolean {
  if (target.type !== "file" || target.access === "read") return target.open === true;
  const { path: named, realPath = named, tree } = target;
  return [named, realPath].some((one) => path === one || (tree === true && isInside(one, path)));
}

/** The files of the working directory, each with a fingerprint. The pack's own storage is excluded. */
function listFiles(): ReadonlyMap<string, string> {
  const root = realpathSync(process.cwd());
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !STORAGE.some((name) => isInside(join(root, name), path)));
  return new Map(
    files.flatMap((path) => {
      const info = lstatSync(path, { throwIfNoEntry: false });
      return info ? [[path, `${info.ino} ${info.size} ${info.mtimeMs}`] as const] : [];
    }),
  );
}

async function describeOnce(
  tool: ExecutableTool,
  method: "describeCall" | "previewCall",
  args: Record<string, unknown>,
  limit: number,
): Promise<{ readonly problem?: string | undefined; readonly found?: unknown }> {
  const describe = tool[method] as
    | ((args: Record<string, unknown>, options: { readonly signal: AbortSignal }) => unknown)
    | undefined;
  if (!describe) return {};
  const before = JSON.stringify(args);
  const stop = new AbortController();
  const late = Symbol("late");
  try {
    const described = new Promise<unknown>((resolve) =>
      resolve(describe.call(tool, args, { signal: stop.signal })),
    );
    const found = await Promise.race([described, sleep(limit, late, UNREF)]);
    if (found === late) return { problem: `took longer than ${limit} ms` };
    if (JSON.stringify(args) !== before) return { problem: "changed the arguments" };
    if (found === undefined) return method === "describeCall" ? { problem: "returned nothing" } : {};
    if (method === "describeCall") readDescription(found);
    else readPreview(found);
    const { targets = [] } = found as { targets?: readonly { type?: string; path?: unknown }[] };
    const relative = targets.find(({ type, path }) => type === "file" && !isAbsolute(String(path)));
    if (!relative) return { found };
    return { problem: `named the file ${describeValue(relative.path)}, which is not an absolute path` };
  } catch (error) {
    return { problem: `failed: ${errorMessage(error)}` };
  } finally {
    stop.abort();
  }
}

const MAX_NESTED = 1000;

/** An agent's services for a call: child agents that answer immediately, and calls of the other tools of the pack. */
class NestedCalls {
  readonly #collection: Collection;
  #count = 0;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  get isUsed(): boolean {
    return this.#count > 0;
  }

  get problem(): string | undefined {
    return this.#count > MAX_NESTED
      ? `made more than ${MAX_NESTED} calls of other tools and agents`
      : undefined;
  }

  offerTo(call: ToolCall): ToolCall {
    const { signal } = call;
    return {
      ...call,
      signal,
      startAgent: async (request) => {
        this.#begin(signal);
        return childAnswer(request);
      },
      callTool: async (name, args) => {
        this.#begin(signal);
        const registry = new ToolRegistry();
        const tool = this.#collection.find(name)?.tool;
        if (tool) {
          registry.register({
            name,
            getSchema: () => tool.getSchema(),
            execute: (own, inner) => tool.execute(own, inner && this.offerTo(inner)),
          });
        }
        return await registry.run(name, { ...args }, { signal });
      },
    };
  }

  #begin(signal: AbortSignal): void {
    signal.throwIfAborted();
    this.#count++;
    if (this.#count > MAX_NESTED) throw new Error(`There were more than ${MAX_NESTED} nested calls.`);
  }
}

function childAnswer({ message, history = [] }: ChildAgentRequest): ChildAgentAnswer<never> {
  const text = "The task is done.";
  return {
    text,
    output: undefined as never,
    finishReason: "stop",
    turns: 1,
    usage: { inputTokens: 0, outputTokens: 0 },
    messages: [...history, { role: "user", content: message }, { role: "assistant", content: text }],
  };
}
