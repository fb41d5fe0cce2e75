import { errorMessage, quote } from "@agent/internal";
import { isAgentError } from "../errors.js";
import { onlyReads } from "../rules/mode.js";
import { orAborted } from "../toolkit/abort.js";
import { aboutOf, type DescribedCall } from "../tools/callDescription.js";
import type { ToolResult } from "../tools/execution.js";
import type { PreparedCall } from "../tools/preparedCall.js";
import type { AccessNeed, ToolCapability } from "../tools/tool.js";
import {
  ApprovalGate,
  type ApprovalRequest,
  type CallRules,
  type LateDecision,
  SuspendedCall,
} from "./approval.js";
import { announceRun, askAfterHooks, askBeforeHooks, type HookCall } from "./hooks.js";
import { type RequestedCall, toolNameHint } from "./requestedCalls.js";
import type { LoopTools, Run } from "./run.js";
import { DIRECT_STEPS } from "./steps.js";

// Calls with these capabilities run alone: two edits of one file must not overlap.
const EXCLUSIVE: readonly ToolCapability[] = ["write", "destroy", "execute"];

/** Whether a call must not overlap with any other. */
function isExclusive(capabilities: readonly ToolCapability[]): boolean {
  return EXCLUSIVE.some((capability) => capabilities.includes(capability));
}

interface Waiting {
  readonly exclusive: boolean;
  readonly start: () => void;
}

/**
 * Lets readers run together and every other call alone, in the order they ask. A call with nested calls or child agents
 * passes its slot to them, so that they cannot deadlock.
 */
export class CallSlots {
  #readers = 0;
  #isWriting = false;
  readonly #queue: Waiting[] = [];

  /** Resolves once the call may run. */
  async acquire(exclusive: boolean): Promise<CallSlot> {
    if (this.#queue.length > 0 || !this.#isFree(exclusive)) {
      await new Promise<void>((start) => {
        this.#queue.push({ exclusive, start });
      });
    } else this.#take(exclusive);
    return new CallSlot(this, exclusive, () => this.#release(exclusive));
  }

  #isFree(exclusive: boolean): boolean {
    return !this.#isWriting && (!exclusive || this.#readers === 0);
  }

  #take(exclusive: boolean): void {
    if (exclusive) this.#isWriting = true;
    else this.#readers++;
  }

  #release(exclusive: boolean): void {
    if (exclusive) this.#isWriting = false;
    else this.#readers--;
    for (let next = this.#queue[0]; next && this.#isFree(next.exclusive); next = this.#queue[0]) {
      this.#queue.shift();
      this.#take(next.exclusive);
      next.start();
    }
  }
}

/** The slot of one call. */
class CallSlot {
  readonly #slots: CallSlots;
  readonly #exclusive: boolean;
  readonly #release: () => void;
  #isReleased = false;
  #inner: CallSlots | undefined;

  constructor(slots: CallSlots, exclusive: boolean, release: () => void) {
    this.#slots = slots;
    this.#exclusive = exclusive;
    this.#release = release;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#release();
  }

  /** The slots of nested calls and child agents. A call that runs alone keeps its slot and orders them among themselves. */
  forNested(): CallSlots {
    if (this.#exclusive) {
      this.#inner ??= new CallSlots();
      return this.#inner;
    }
    this.release();
    return this.#slots;
  }
}

const MAX_NESTING = 8;

/** The place where calls run: the tool round of an answer, or inside another call. */
export interface CallScene {
  readonly run: Run;
  readonly turn: number;
  readonly slots: CallSlots;
  /** The ids of all calls of the tool round, so that nested calls get different ones. */
  readonly ids: Set<string>;
  /** Decisions given for pending calls, with what was shown. */
  readonly late: ReadonlyMap<string, LateDecision>;
  /** The calls around a nested call, outermost first. */
  readonly parents: readonly ParentCall[];
}

interface ParentCall {
  readonly id: string;
  readonly name: string;
  readonly repeatable: boolean;
}

/**
 * Looks up a call and validates it. Has no side effects and never rejects. With `repair`, common mistakes in a model's
 * arguments are corrected.
 */
export async function prepareRequested(
  { name, args, problem }: RequestedCall,
  { tools, signal }: Run,
  { repair = true } = {},
): Promise<PreparedCall | ToolResult> {
  if (problem !== undefined) {
    return { outcome: "error", text: `Error executing ${name}: ${problem}`, durationMs: 0 };
  }
  try {
    // A schema library may run code that never returns.
    const prepared = await orAborted(tools.prepare(name, args, { repair }), signal);
    return "outcome" in prepared && prepared.outcome === "not_found"
      ? withToolNames(prepared, name, tools)
      : prepared;
  } catch {
    return abortedBefore(name);
  }
}

/** The result for a call of an unknown tool, with the names of existing tools. */
function withToolNames(result: ToolResult, name: string, tools: LoopTools): ToolResult {
  const names = tools.getSharedSchemas().map((tool) => tool.function.name);
  return { ...result, text: `${result.text}. ${toolNameHint(name, names)}` };
}

/**
 * Whether a prepared call must not overlap with others. Depends on the tool that runs, which a redirect may have
 * changed.
 */
export function runsAlone(prepared: PreparedCall | ToolResult): boolean {
  return !("outcome" in prepared) && isExclusive(prepared.capabilities);
}

/**
 * The one path of a call: requested → prepared (look-up, validation; no side effect) → decided (hooks, rules, then
 * `approve`) → run → settled. Emits `tool_start` only when the tool really runs, and `tool_end` in any case. Rejects
 * only if the steps do, or if the decision is suspended.
 */
export async function runCall(
  call: RequestedCall,
  prepared: PreparedCall | ToolResult,
  slot: CallSlot,
  scene: CallScene,
): Promise<ToolResult> {
  const { id } = call;
  const { run, turn, parents } = scene;
  const { tools, steps, session } = run;
  let replayed = true;
  const states = session.stateVersion;
  // A redirected call is reported under the name of the tool it was redirected to.
  const { name, args } = "outcome" in prepared ? call : prepared;
  // Refusals go through the steps too: when a message is replayed, a tool that is not registered yet must not change a
  // recorded result.
  const key = {
    scope: run.scope,
    turn,
    callId: id,
    name,
    args,
    capabilities: tools.getCapabilities(name),
    repeatable: tools.isRepeatable(name),
  };
  const { state, ...result }: ToolResult = await steps.call(key, async (intent) => {
    replayed = false;
    if ("outcome" in prepared) return prepared;
    const decided = await decide(id, prepared, scene);
    if ("outcome" in decided) return { ...decided, text: tools.redact(decided.text) };
    await intent?.();
    const ended = await execute(id, decided, slot, scene);
    const changed = session.statesSince(states);
    return changed.length === 0 ? ended : { ...ended, state: changed };
  });
  if (replayed && state) session.replayStates(state);
  run.emit({
    type: "tool_end",
    id,
    name,
    ...parentOf(parents),
    ...result,
    ...(replayed && { replayed }),
  });
  return result;
}

/** For a decision given to an agent that asks no questions. */
const ASKS: CallRules = { decide: () => ({ type: "ask" }), allow: () => undefined };

interface Decided {
  /** The call to run: hooks may have changed its arguments. */
  readonly call: PreparedCall;
  /** The needs that were displayed and approved. */
  readonly granted: readonly AccessNeed[];
  /** The token of the preview that the user saw. */
  readonly basis?: string | undefined;
  /** Absent if no description was requested. */
  readonly described: DescribedCall | undefined;
}

/** Asks the hooks first, then the rules, then `approve`. */
async function decide(id: string, prepared: PreparedCall, scene: CallScene): Promise<Decided | ToolResult> {
  const { run } = scene;
  const { tools, gate, signal } = run;
  if (signal.aborted) return abortedBefore(prepared.name);
  let call = prepared;
  let allowed = false;
  const packHooks = run.packs.hooks;
  if (run.hooks.length + packHooks.length > 0) {
    const revalidate = async (args: Record<string, unknown>): Promise<string | undefined> => {
      const again = await tools.prepare(prepared.name, args);
      if ("outcome" in again) return again.text;
      call = again;
      return undefined;
    };
    const hooked = { ...hookCall(id, call, run), describe: () => call.describe(signal) };
    const verdict = await askBeforeHooks(hooked, run.hooks, packHooks, revalidate);
    if (signal.aborted) return abortedBefore(prepared.name);
    if (verdict.type === "deny") return denied(verdict.reason);
    ({ allowed } = verdict);
  }
  const late = scene.late.get(id);
  const decides = !allowed && (gate !== undefined || late !== undefined);
  // Without a gate, a listener or a hook, the description is not needed.
  if (!decides && !allowed && !run.stream) return { call, granted: [], described: undefined };
  const described = await call.describe(signal);
  if (signal.aborted) return abortedBefore(call.name);
  if (described.refusal !== undefined) return refused(call.name, described.refusal);
  if (!decides) return { call, granted: allowed ? described.needs : [], described };
  return await askGate(id, call, described, late, scene);
}

async function askGate(
  id: string,
  call: PreparedCall,
  described: DescribedCall,
  late: LateDecision | undefined,
  { run, turn, parents }: CallScene,
): Promise<Decided | ToolResult> {
  const { signal, context, scope, label, directory } = run;
  const { name, args, capabilities } = call;
  const request: ApprovalRequest = {
    scope,
    turn,
    id,
    name,
    args,
    capabilities,
    description: described,
    ...(label !== undefined && { label }),
    ...(directory !== undefined && { directory }),
    ...parentOf(parents),
    ...(parents.length > 0 && !mayWait(parents, run) && { cannotWait: true as const }),
    context,
    signal,
  };
  // A decision may exist for a call although this agent has no `approve`; if the call has changed since, it waits again.
  const gate = run.gate ?? new ApprovalGate(() => "suspend", ASKS);
  const answer = await gate.check(request, () => call.preview(signal), late);
  if (signal.aborted) return abortedBefore(name);
  if (answer.type === "deny") return denied(answer.reason);
  if (answer.type === "refuse") return refused(name, answer.reason);
  return { call, granted: described.needs, basis: answer.basis, described };
}

/** The failure of a nested call or child agent that makes the whole call fail. */
interface Interruption {
  error?: unknown;
}

async function execute(id: string, decided: Decided, slot: CallSlot, scene: CallScene): Promise<ToolResult> {
  const { run, parents } = scene;
  const { emit, signal, telemetry, context, tools } = run;
  const { call, granted, basis, described } = decided;
  const { name, args } = call;
  const hooks = [...run.packs.hooks, ...run.hooks];
  const hooked = { ...hookCall(id, call, run), describe: () => call.describe(signal) };
  const refusal = await announceRun(hooked, hooks);
  if (refusal !== undefined) return denied(refusal);
  if (run.session.isStored && !onlyReads(call.capabilities)) {
    const problem = await run.session.flush().then(() => undefined, errorMessage);
    if (problem !== undefined) return denied(problem);
  }
  if (signal.aborted) return abortedBefore(name);
  const about = described && aboutOf(described);
  const work = new Set<Promise<unknown>>();
  const interruption: Interruption = {};
  const attributes = { "gen_ai.tool.call.id": id, "gen_ai.tool.type": "function" };
  const event = { id, name, ...parentOf(parents) };
  const result = await telemetry.inSpan(
    { operation: "execute_tool", name, attributes, context },
    async (set) => {
      const ended = await call.run({
        signal,
        granted,
        ...(basis !== undefined && { basis }),
        ...(described?.contained && { contained: true }),
        wantsView: about !== undefined,
        context,
        startAgent: (request, childSignal = signal) => {
          const child = run.startAgent(
            { turn: scene.turn, callId: id },
            request,
            childSignal,
            slot.forNested(),
          );
          work.add(
            child.catch((error: unknown) => {
              if (isAgentError(error, "suspended")) interruption.error ??= error;
            }),
          );
          return child;
        },
        callTool: nestedCalls({ id, name, repeatable: call.repeatable }, slot, scene, work, interruption),
        onStart: () => emit({ type: "tool_start", ...event, args, ...(about && { about }) }),
        onOutput: (chunk) => emit({ type: "tool_output", ...event, chunk }),
        onProcess: (pid) => emit({ type: "tool_process", ...event, pid }),
        progress: (progress) => emit({ ...progress, type: "tool_progress", ...event }),
      });
      // Child agents and nested calls that the tool did not await were aborted when it returned.
      await Promise.all(work);
      // The tool may have returned a result although a nested call or child agent was suspended and has not finished.
      if (interruption.error !== undefined) throw interruption.error;
      set(ended.outcome === "ok" ? {} : { "error.type": ended.outcome }, () => ({
        "gen_ai.tool.call.arguments": JSON.stringify(args),
        "gen_ai.tool.call.result": ended.text,
      }));
      return about ? { ...ended, about } : ended;
    },
  );
  const after = hooks.filter(({ afterCall }) => afterCall);
  if (after.length === 0) return result;
  const changed = await askAfterHooks(hooked, result, after);
  return changed === result ? result : { ...changed, text: tools.redact(changed.text) };
}

/**
 * Runs the nested calls of a call through the same path. A failed call resolves to its result. A question that cannot
 * be answered now may stay pending only if a journal can run the outer calls again.
 */
function nestedCalls(
  parent: ParentCall,
  slot: CallSlot,
  scene: CallScene,
  work: Set<Promise<unknown>>,
  interruption: Interruption,
) {
  const { run, turn } = scene;
  const parents = [...scene.parents, parent];
  let count = 0;
  const runNested = async (
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult> => {
    const index = count++;
    const problem = nestingProblem(name, parents, run);
    if (problem !== undefined)
      return { outcome: "error", text: `Error executing ${name}: ${problem}`, durationMs: 0 };
    run.allowance.nestedCalls--;
    let id = `${parent.id}/t${index}`;
    while (scene.ids.has(id)) id = `${id}_`;
    scene.ids.add(id);
    const nested: CallScene = {
      ...scene,
      // Encode the id: the model chooses it, and it must not look like the path of another call.
      run: {
        ...run,
        signal,
        scope: `${run.scope}${turn}/${encodeURIComponent(parent.id)}/t${index}/`,
      },
      slots: slot.forNested(),
      parents,
    };
    const call: RequestedCall = { id, name, args: { ...args }, raw: "", problem: undefined };
    const described = run.stream ? run.tools.aboutCall(name, call.args) : {};
    run.emit({ type: "tool_requested", id, name, args, ...described, parent: parent.id });
    const prepared = await prepareRequested(call, nested.run, { repair: false });
    const inner = await nested.slots.acquire(runsAlone(prepared));
    try {
      return await runCall(call, prepared, inner, nested);
    } catch (error) {
      if (error instanceof SuspendedCall && !mayWait(parents, run)) {
        const result = denied(`a question inside ${parent.name} cannot wait for a later decision.`);
        run.emit({ type: "tool_end", id, name, parent: parent.id, ...result });
        return result;
      }
      interruption.error ??= error;
      throw error;
    } finally {
      inner.release();
    }
  };
  return (
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult> => {
    const running = runNested(name, args, signal);
    work.add(running.catch(() => undefined));
    return running;
  };
}

function mayWait(parents: readonly ParentCall[], { steps }: Run): boolean {
  return steps !== DIRECT_STEPS && parents.every(({ repeatable }) => repeatable);
}

function nestingProblem(
  name: string,
  parents: readonly ParentCall[],
  { allowance, limits }: Run,
): string | undefined {
  if (typeof name !== "string") return "the name of a tool must be a string.";
  if (parents.some((parent) => parent.name === name)) return `${quote(name)} cannot call itself.`;
  if (parents.length > MAX_NESTING) return `calls may be nested at most ${MAX_NESTING} levels deep.`;
  if (allowance.nestedCalls > 0) return undefined;
  return `tools may make at most ${limits.maxNestedCalls} calls for one message. Raise maxNestedCalls if more are needed.`;
}

function parentOf(parents: readonly ParentCall[]): { readonly parent?: string } {
  const parent = parents.at(-1);
  return parent === undefined ? {} : { parent: parent.id };
}

function hookCall(
  id: string,
  { name, args, capabilities }: PreparedCall,
  run: Run,
): Omit<HookCall, "describe"> {
  const { scope, context, signal } = run;
  return { scope, id, name, args, capabilities, context, signal };
}

function denied(reason: string): ToolResult {
  return { outcome: "denied", text: `Tool call denied: ${reason}`, durationMs: 0 };
}

function refused(name: string, reason: string): ToolResult {
  return { outcome: "error", text: `Error executing ${name}: ${reason}`, durationMs: 0 };
}

function abortedBefore(name: string): ToolResult {
  return { outcome: "aborted", text: `Error executing ${name}: aborted before it started.`, durationMs: 0 };
}
