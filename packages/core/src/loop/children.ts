import { findContentProblem, wellFormed } from "../conversation/content.js";
import { Conversation } from "../conversation/conversation.js";
import { AgentError, isAgentError, throwIfAborted, withMessages } from "../errors.js";
import type { AgentEvent, DoneEvent } from "../events.js";
import type { ChatProvider } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkBoolean,
  checkEffort,
  checkPositive,
  checkText,
  textsOf,
} from "../toolkit/hostOptions/checks.js";
import { resolveProvider } from "../tools/models.js";
import type { ToolRegistry } from "../tools/registry.js";
import type { ChildAgentAnswer, ChildAgentRequest } from "../tools/tool.js";
import { ApprovalGate, type Approve, type CallRules, SuspendedCall } from "./approval.js";
import { Budget, isCountable, limitsOf } from "./budget.js";
import { CallSlots } from "./callPath.js";
import type { CallHooks } from "./hooks.js";
import { createOutputReader } from "./output.js";
import { type LoopLimits, type RunParts, readPackPrompt, toolsOfChild } from "./run.js";
import { UsageMeter } from "./usage.js";

/** A git work tree in which a child agent works, with tools that work there. */
export interface AgentWorktree {
  /** Its absolute path. */
  readonly directory: string;
  /** Tools that work in the directory (`PackHost.directory`). The child can use those that its parent has enabled too. */
  readonly registry: ToolRegistry;
  /** Decide about the calls of the child. Default: those of the agent. Questions wait in the agent's queue. */
  readonly approval?: { readonly rules: CallRules; readonly approve: Approve };
  /** In place of the hooks of the agent. */
  readonly hooks?: readonly CallHooks[];
  /** In place of the agent's system prompt, for a child that inherits it. */
  readonly systemPrompt?: string;
  /** Ends what its tools started, and removes the tree if nothing was changed in it. Must not reject. */
  close(): Promise<WorktreeEnd>;
}

/** What became of the work tree of a child agent. */
export interface WorktreeEnd {
  /** Whether it is still there, because something was changed in it. */
  readonly isKept: boolean;
  /** One or more sentences for the model and the user: what was changed, where it is, how to continue. */
  readonly summary: string;
}

/**
 * Makes a work tree of this name for a child agent, or opens the one that was kept under that name. Rejects with the reason if
 * there cannot be one.
 */
export type OpenWorktree = (name: string, signal: AbortSignal) => Promise<AgentWorktree>;

/** The call that started the child agent. Ids are unique within one turn only. */
interface CallPlace {
  readonly turn: number;
  readonly callId: string;
}

/** Starts a child agent for a call. Rejects with an `AgentError`, including when there are too many. */
export type ChildStarter = (
  place: CallPlace,
  request: ChildAgentRequest,
  signal: AbortSignal,
  slots: CallSlots,
) => Promise<ChildAgentAnswer>;

const REQUEST: OptionChecks<ChildAgentRequest> = {
  message: checkMessage,
  history: arrayOf("messages"),
  systemPrompt: checkText,
  tools: textsOf("tool names"),
  maxTurns: checkPositive,
  effort: checkEffort,
  model: checkText,
  small: checkBoolean,
  maxCost: checkPositive,
  maxTokens: checkPositive,
  output: () => undefined,
  exclusive: checkBoolean,
  inheritPrompt: checkBoolean,
  worktree: checkText,
  label: checkText,
};

/** Limits the number of child agents that run at the same time; the others wait in order. */
export class ChildSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  /** Resolves once a slot is free, to a function that releases it. Calls `onWait` if none is. */
  async acquire(signal: AbortSignal, onWait: () => void = () => undefined): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else {
      onWait();
      let wake = (): void => undefined;
      const turn = new Promise<void>((resolve) => {
        wake = resolve;
      });
      this.#waiting.push(wake);
      try {
        await orAborted(turn, signal);
      } catch (error) {
        const index = this.#waiting.indexOf(wake);
        // A slot that was freed at the same time as the abort goes to the next in line.
        if (index === -1) this.#release();
        else this.#waiting.splice(index, 1);
        throw error;
      }
    }
    return () => this.#release();
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}

/**
 * A child works like its parent: the same loop, model, hooks and approval, with its own conversation. Its usage counts
 * against the parent's limits, and its tools are a subset of the parent's.
 */
export function createChildStarter(
  parent: RunParts,
  runChild: (child: RunParts) => Promise<DoneEvent>,
): ChildStarter {
  const started = new Map<string, number>();
  return async ({ turn, callId }, request, signal, slots) => {
    checkOptions("startAgent", request, REQUEST);
    checkMessage("message", request.message);
    throwIfAborted(signal);
    checkLimits(parent);
    parent.allowance.children--;
    // Encode the id: the model chooses it, and it must not look like the path of another call.
    const turnPlace = `${turn}/${encodeURIComponent(callId)}`;
    const child = started.get(turnPlace) ?? 0;
    started.set(turnPlace, child + 1);
    const { label, message, tools, maxTurns, effort = parent.effort } = request;
    const model: Partial<Pick<RunParts, "provider" | "limits">> =
      request.model === undefined ? smallModelOf(request, parent) : await modelOf(request.model, parent);
    const own = limitsOf(request);
    const reader = request.output === undefined ? undefined : createOutputReader(request.output);
    const { history } = request;
    const systemPrompt = promptOf(request, parent.session.systemPrompt);
    const conversation = new Conversation({
      systemPrompt,
      ...(history && { session: { systemPrompt, messages: history } }),
    });
    conversation.append({ role: "user", content: wellFormed(message) });
    const begun = performance.now();
    const emit = (event: AgentEvent): void => {
      const elapsedMs = Math.round(performance.now() - begun);
      parent.emit({
        type: "child",
        id: callId,
        child,
        ...(label !== undefined && { label }),
        elapsedMs,
        event,
      });
    };
    const release = await takePlace(parent, request.exclusive ?? false, signal, emit);
    try {
      const tree = await openFor(request.worktree, parent.openWorktree, signal);
      const { result: done, end } = await closing(tree, async () => {
        throwIfAborted(signal);
        if (tree?.systemPrompt !== undefined)
          conversation.setSystemPrompt(promptOf(request, tree.systemPrompt));
        const place = tree && partsIn(tree, parent, emit);
        const allTools = place?.tools ?? parent.tools;
        return await runChild({
          ...parent,
          ...place,
          ...model,
          conversation,
          signal,
          tools: tools === undefined ? allTools : toolsOfChild(allTools, new Set(tools)),
          limits: { ...parent.limits, ...model.limits, ...(maxTurns !== undefined && { maxTurns }) },
          effort,
          takeSteering: () => [],
          output: reader,
          control: undefined,
          decisions: {},
          // In its own directory it need not wait for calls of others.
          slots: tree ? new CallSlots() : slots,
          label,
          scope: `${parent.scope}${turnPlace}/${child}/`,
          depth: parent.depth + 1,
          meter: new UsageMeter(parent.meter),
          budgets: own ? [...parent.budgets, new Budget("child", own)] : parent.budgets,
          emit,
        });
      });
      emit(done);
      const { text, output, finishReason, turns, usage } = done;
      const messages = [...conversation.sessionContext];
      return {
        ...{ text, finishReason, turns, usage, messages },
        output,
        ...(end && { worktree: end }),
      };
    } catch (error) {
      throw withMessages(error, [...conversation.sessionContext]);
    } finally {
      release();
    }
  };
}

function promptOf({ systemPrompt = "", inheritPrompt }: ChildAgentRequest, ofAgent: string): string {
  const parts = inheritPrompt ? [ofAgent, systemPrompt] : [systemPrompt];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** What a child with its own work tree has in place of its parent's. */
function partsIn(
  { directory, registry, approval, hooks }: AgentWorktree,
  { tools, gate, hooks: ofParent }: RunParts,
  emit: (event: AgentEvent) => void,
): Pick<RunParts, "directory" | "tools" | "gate" | "hooks" | "packs" | "packPrompt"> {
  return {
    directory,
    // Those that the parent has on too.
    tools: toolsOfChild(registry, { has: (name) => tools.isToolEnabled(name) }),
    gate: approval ? new ApprovalGate(approval.approve, approval.rules, gate) : gate,
    hooks: hooks ?? ofParent,
    packs: registry.services,
    packPrompt: readPackPrompt(registry, emit),
  };
}

/** Closes the work tree when the child has ended. If the child failed, its error names a tree that was kept. */
async function closing<T>(
  tree: AgentWorktree | undefined,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly end?: NonNullable<ChildAgentAnswer["worktree"]> }> {
  if (!tree) return { result: await run() };
  const { directory } = tree;
  let result: T;
  try {
    result = await run();
  } catch (error) {
    const { isKept, summary } = await tree.close();
    if (!isKept || !isAgentError(error) || error instanceof SuspendedCall) throw error;
    throw new AgentError(error.code, `${error.message} ${summary}`, { cause: error });
  }
  return { result, end: { directory, ...(await tree.close()) } };
}

/**
 * Waits until the child may run: first for the exclusive slot, if it is exclusive, then for one of the concurrent
 * slots. The user sees that it waits: otherwise it would look stuck.
 */
async function takePlace(
  { allowance, depth, limits }: RunParts,
  exclusive: boolean,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<() => void> {
  let hasWaited = false;
  const onWait = (): void => {
    if (!hasWaited) emit({ type: "notice", text: "waits for another agent" });
    hasWaited = true;
  };
  let endTurn = (): void => undefined;
  if (exclusive) {
    allowance.exclusive[depth] ??= new ChildSlots(1);
    endTurn = await (allowance.exclusive[depth] as ChildSlots).acquire(signal, onWait);
  }
  try {
    allowance.running[depth] ??= new ChildSlots(limits.maxConcurrentChildren);
    const makeRoom = await (allowance.running[depth] as ChildSlots).acquire(signal, onWait);
    if (hasWaited) emit({ type: "notice", text: "starts" });
    return () => {
      makeRoom();
      endTurn();
    };
  } catch (error) {
    endTurn();
    throw error;
  }
}

/** The provider that a child uses instead of its parent's, and its context size. */
async function modelOf(
  name: string,
  { resolveModel, limits }: RunParts,
): Promise<Pick<RunParts, "provider" | "limits">> {
  return withModel(await resolveProvider(name, resolveModel), limits);
}

function smallModelOf(
  { small }: ChildAgentRequest,
  { smallModel, limits, budgets }: RunParts,
): Partial<Pick<RunParts, "provider" | "limits">> {
  return small && smallModel && isCountable(smallModel, { budgets }) ? withModel(smallModel, limits) : {};
}

function withModel(provider: ChatProvider, limits: LoopLimits): Pick<RunParts, "provider" | "limits"> {
  return { provider, limits: { ...limits, contextTokens: provider.contextTokens ?? limits.contextTokens } };
}

function checkLimits({ depth, limits, allowance }: RunParts): void {
  if (depth >= limits.maxChildDepth) {
    throw new AgentError(
      "child_limit",
      `An agent ${depth} levels below the first may not start another. Do the work here, or raise maxChildDepth.`,
    );
  }
  if (allowance.children <= 0) {
    throw new AgentError(
      "child_limit",
      `At most ${limits.maxChildAgents} child agents may be started for one message. Raise maxChildAgents if more are needed.`,
    );
  }
}

function checkMessage(name: string, message: unknown): void {
  const problem = message === "" ? "is empty" : findContentProblem(message);
  if (problem !== undefined) throw new AgentError("invalid_argument", `startAgent: ${name} ${problem}.`);
}

/** Opens the work tree that a child asks for. Throws if the host has none. */
async function openFor(
  name: string | undefined,
  open: OpenWorktree | undefined,
  signal: AbortSignal,
): Promise<AgentWorktree | undefined> {
  if (name === undefined) return undefined;
  if (!open) {
    throw new AgentError(
      "invalid_argument",
      "startAgent: this program cannot give a child agent its own work tree. Leave out worktree.",
    );
  }
  return await open(name, signal);
}
