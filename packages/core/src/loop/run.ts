import type { Content } from "../conversation/content.js";
import type { Conversation } from "../conversation/conversation.js";
import type { AgentEvent } from "../events.js";
import type { ChatProvider, Effort } from "../providers/interface.js";
import type { CallAbout } from "../tools/callDescription.js";
import type { ToolResult } from "../tools/execution.js";
import type { ResolveModel } from "../tools/models.js";
import { type PreparedCall, type PrepareOptions, unavailable } from "../tools/preparedCall.js";
import type { ToolRegistry } from "../tools/registry.js";
import type { PackServiceList } from "../tools/services.js";
import type { ChatTool, FreeformInput, ToolCapability } from "../tools/tool.js";
import type { ApprovalDecisions, ApprovalGate } from "./approval.js";
import type { StepControl } from "./askModel.js";
import type { Budget } from "./budget.js";
import type { CallSlots } from "./callPath.js";
import type { ChildSlots, ChildStarter, OpenWorktree } from "./children.js";
import type { CallHooks } from "./hooks.js";
import type { OutputReader } from "./output.js";
import type { Steps } from "./steps.js";
import type { Telemetry } from "./telemetry.js";
import type { UsageMeter } from "./usage.js";

export interface LoopLimits {
  readonly maxTurns: number;
  readonly maxRepeats: number;
  /** The maximum size of all tool results of one answer together, in bytes. */
  readonly maxTurnOutputBytes: number;
  readonly maxCallsPerAnswer: number;
  readonly maxOutputRetries: number;
  readonly maxChildAgents: number;
  readonly maxChildDepth: number;
  readonly maxConcurrentChildren: number;
  readonly maxNestedCalls: number;
  /**
   * The conversation's budget in estimated tokens; `undefined` compacts only after the provider refused a request as
   * too long.
   */
  readonly contextTokens: number | undefined;
}

/** The part of a registry the loop uses; a child agent's is a subset of its parent's. */
export interface LoopTools {
  prepare(
    name: string,
    args: Record<string, unknown>,
    options?: PrepareOptions,
  ): Promise<PreparedCall | ToolResult>;
  getSharedSchemas(): readonly ChatTool[];
  getFreeform(): Readonly<Record<string, FreeformInput>> | undefined;
  /** Whether a call of the tool would run. */
  isToolEnabled(name: string): boolean;
  getCapabilities(name: string): readonly ToolCapability[];
  isRepeatable(name: string): boolean;
  /** Facts about a call before it is validated: its title and kind. */
  aboutCall(name: string, args: Readonly<Record<string, unknown>>): Pick<CallAbout, "title" | "kind">;
  /** The arguments that name a call of this tool. */
  titleFrom(name: string): readonly string[];
  redact(text: string): string;
}

/** The remaining budget that a run shares with all its child agents. */
interface Allowance {
  turns: number;
  children: number;
  nestedCalls: number;
  /** The running child agents by depth. One that waits for its own children must not block their slots. */
  readonly running: ChildSlots[];
  /** The slots of exclusive child agents, by their depth. */
  readonly exclusive: ChildSlots[];
}

/** One message being answered: everything the loop works with. */
export interface Run {
  readonly provider: ChatProvider;
  readonly tools: LoopTools;
  readonly conversation: Conversation;
  readonly limits: LoopLimits;
  readonly gate: ApprovalGate | undefined;
  /** The embedder's own hooks. Those of packs are among their services. */
  readonly hooks: readonly CallHooks[];
  readonly packs: Pick<PackServiceList, "hooks" | "warmUp" | "refresh">;
  /** The additions of packs to the system prompt, as of the start of the message. */
  readonly packPrompt: string;
  /** The conversation of the top-level agent, which holds the pack states; a child agent has its own `conversation`. */
  readonly session: Conversation;
  readonly resolveModel: ResolveModel | undefined;
  /** A cheaper model for summaries and for child agents that ask for it. */
  readonly smallModel: ChatProvider | undefined;
  /** Makes work trees for child agents, where the host can. */
  readonly openWorktree: OpenWorktree | undefined;
  readonly steps: Steps;
  readonly telemetry: Telemetry;
  /** Takes the messages given to `steer` since the last call; with `last`, closes the queue if there are none. */
  readonly takeSteering: (options?: { readonly last: boolean }) => readonly Content[];
  readonly output: OutputReader | undefined;
  /** Controls the requests of an agent; a child agent has none. */
  readonly control: StepControl | undefined;
  /** Decisions about pending calls. */
  readonly decisions: ApprovalDecisions;
  /** The slots of calls, shared with the call that started this child agent. */
  readonly slots?: CallSlots;
  /** The `context` that was passed to `chat`, for tools and hooks. */
  readonly context: unknown;
  /** The reasoning effort; `undefined` if the server decides. */
  readonly effort: Effort | undefined;
  readonly stream: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** `""`, or the path of calls to this child agent. */
  readonly scope: string;
  /** A child agent's label, given by the tool that started it. */
  readonly label: string | undefined;
  /** Where a child agent with its own work tree works. */
  readonly directory: string | undefined;
  readonly depth: number;
  readonly meter: UsageMeter;
  /** The budgets of this run and of its parents. */
  readonly budgets: readonly Budget[];
  readonly allowance: Allowance;
  /** Starts a child agent for a call of this run. */
  readonly startAgent: ChildStarter;
}

/** A run before it can start child agents. */
export type RunParts = Omit<Run, "startAgent">;

/**
 * Restricts a registry to the tools with these names; enabled and disabled stay as they are. Calls to other tools are
 * refused.
 */
export function toolSubset(tools: LoopTools, names: Pick<ReadonlySet<string>, "has">): LoopTools {
  return {
    prepare: async (name, args, options) =>
      names.has(name) ? await tools.prepare(name, args, options) : refused(name),
    isToolEnabled: (name) => names.has(name) && tools.isToolEnabled(name),
    getSharedSchemas: () => tools.getSharedSchemas().filter(({ function: { name } }) => names.has(name)),
    // A provider only looks up the tools in the request.
    getFreeform: () => tools.getFreeform(),
    getCapabilities: (name) => tools.getCapabilities(name),
    isRepeatable: (name) => tools.isRepeatable(name),
    aboutCall: (name, args) => tools.aboutCall(name, args),
    titleFrom: (name) => tools.titleFrom(name),
    redact: (text) => tools.redact(text),
  };
}

/**
 * The tools of a child agent: as `toolSubset`, and a call that a tool redirects to another one is refused too, unless the
 * child has that one. Otherwise a single tool that calls others would give it all of them.
 */
export function toolsOfChild(tools: LoopTools, names: Pick<ReadonlySet<string>, "has">): LoopTools {
  const subset = toolSubset(tools, names);
  return {
    ...subset,
    prepare: async (name, args, options) => {
      const prepared = await subset.prepare(name, args, options);
      return "outcome" in prepared || names.has(prepared.name) ? prepared : refused(prepared.name);
    },
  };
}

function refused(name: string): ToolResult {
  return { ...unavailable("not_available", name), durationMs: 0 };
}

/** What packs add to the system prompt. */
export function readPackPrompt(
  { services, redact }: Pick<ToolRegistry, "services" | "redact">,
  emit: (event: AgentEvent) => void,
): string {
  const sections = services.prompts((text) => emit({ type: "notice", text }));
  const text = sections.map(({ title, text }) => `# ${title}\n${text}`).join("\n\n");
  return text === "" ? "" : redact(text);
}
