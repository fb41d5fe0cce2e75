import type { Conversation } from "./conversation/conversation.js";
import { AgentError } from "./errors.js";
import type { CallRules, GivenApprove } from "./loop/approval.js";
import { checkToolChoice, type StepControl } from "./loop/askModel.js";
import type { OnBudget } from "./loop/budget.js";
import type { OpenWorktree } from "./loop/children.js";
import type { CallHooks } from "./loop/hooks.js";
import type { LoopLimits } from "./loop/run.js";
import type { Steps } from "./loop/steps.js";
import type { Telemetry } from "./loop/telemetry.js";
import type { ChatProvider, Effort } from "./providers/interface.js";
import { checkOptions, type OptionChecks } from "./toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkBoolean,
  checkEffort,
  checkFunction,
  checkNotNegative,
  checkObject,
  checkPositive,
  checkText,
  invalidArgument,
  textsOf,
  type ValueCheck,
} from "./toolkit/hostOptions/checks.js";
import type { StandardSchema } from "./toolkit/jsonSchema/standardSchema.js";
import type { HostData } from "./tools/factory.js";
import type { ResolveModel } from "./tools/models.js";
import type { AgentToolNames, CheckedPacks, PackDirectories, PackEntry } from "./tools/pack.js";
import type { ToolRegistry } from "./tools/registry.js";
import { checkCallHooks } from "./tools/services.js";

const DEFAULTS = {
  maxTurns: 100,
  maxRepeats: 10,
  maxTurnOutputBytes: 512 * 1024,
  maxCallsPerAnswer: 128,
  maxOutputRetries: 3,
  maxChildAgents: 32,
  maxChildDepth: 2,
  maxConcurrentChildren: 8,
  maxNestedCalls: 10_000,
};

// The share of the context that the tool results of one answer may fill, so that one large read cannot displace the
// rest.
const TURN_OUTPUT_SHARE = 0.25;
const CHARACTERS_PER_TOKEN = 4;

export interface AgentOptions<Entries extends readonly unknown[] = readonly PackEntry[], Context = unknown>
  extends StepControl<Context, AgentToolNames<Entries>> {
  readonly systemPrompt?: string;
  /** The conversation to work on. Default: a new one. */
  readonly conversation?: Conversation;
  /** The agent's tools: packs, packs with options, and single tools: `[fs, [bash, { limits: { timeoutMs: 5000 } }], myTool]`. */
  readonly tools?: CheckedPacks<Entries>;
  /** Alias of `tools`, as named in the config of the `agent` command. Pass one of the two. */
  readonly packs?: CheckedPacks<Entries>;
  /** Only these tools can run, including tools registered later. It does not turn on a disabled tool: `enable` does. */
  readonly only?: readonly AgentToolNames<Entries>[];
  /** If `true`, only read-only tools can run, including tools registered or enabled later. */
  readonly readOnly?: boolean;
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly AgentToolNames<Entries>[];
  /** Tools to turn off. */
  readonly disable?: readonly AgentToolNames<Entries>[];
  /** A registry, in place of `tools` and the options about them, for a host that composes its own. */
  readonly registry?: ToolRegistry;
  /** Services that the program provides to packs: questions to the user, access rules, `wake`. */
  readonly host?: HostData;
  /** An absolute path below which each pack may keep files in a directory with its name. Default: packs get none. */
  readonly directories?: PackDirectories;
  /** Finds the provider for a name, for child agents that request a `model`. Default: they use the model of their parent. */
  readonly resolveModel?: ResolveModel;
  /** Called before each tool call that could run, to allow or deny it. Default: every call runs. */
  readonly approve?: GivenApprove<NoInfer<Context>>;
  /**
   * Rules that decide about a call before `approve` is asked, including calls that were approved earlier. Without
   * `approve`, a call that the rules would ask about is denied.
   */
  readonly rules?: CallRules;
  /** Hooks that run before and after every call, in this order, after the hooks of packs. */
  readonly hooks?: readonly CallHooks<NoInfer<Context>>[];
  /**
   * A schema of the `context` that every message passes to tools, hooks and `approve`, such as the user or the tenant.
   * It is checked with each message, and a message without `context` does not compile. `contextType<T>()` only sets the
   * type.
   */
  readonly context?: StandardSchema<Context>;
  /**
   * Runs every model answer and tool call as a step. Pass a journal here to continue a message after the process was
   * killed.
   */
  readonly steps?: Steps;
  /** Receives spans of the agent's work: `openTelemetry()` of `@agent/core/otel`. */
  readonly telemetry?: Telemetry;
  /** The maximum number of model requests for one message, child agents included. Default 100. */
  readonly maxTurns?: number;
  /** The maximum number of identical rounds in a row (same calls, same results). Default 10. */
  readonly maxRepeats?: number;
  /** The maximum size of all tool results of one turn together, in bytes. Default 512 KiB, or a quarter of the context. */
  readonly maxTurnOutputBytes?: number;
  /**
   * The maximum number of calls that run for one answer; the others are reported to the model as not run. Default 128.
   */
  readonly maxCallsPerAnswer?: number;
  /** The maximum number of times an answer that does not fit `output` is sent back. Default 3. */
  readonly maxOutputRetries?: number;
  /** The maximum number of child agents that tools may start for one message. Default 32. */
  readonly maxChildAgents?: number;
  /** The maximum nesting depth of child agents. Default 2. */
  readonly maxChildDepth?: number;
  /** The maximum number of child agents that run at the same time on one level; the others wait. Default 8. */
  readonly maxConcurrentChildren?: number;
  /** The maximum number of calls that tools may make with `callTool` for one message. Default 10,000. */
  readonly maxNestedCalls?: number;
  /** The conversation's budget in estimated tokens. Default: the provider's `contextTokens`, if it is known. */
  readonly contextTokens?: number;
  /**
   * The maximum cost of all requests of the conversation in dollars, including child agents and earlier messages of the
   * session. It is checked before each request; the request in progress may exceed it. Needs a known price for every
   * model.
   */
  readonly maxCost?: number;
  /** The maximum number of tokens of all requests and answers of the conversation. Checked like `maxCost`. */
  readonly maxTokens?: number;
  /** Called when a request would exceed `maxCost` or `maxTokens`. Default: the message fails with `budget_exceeded`. */
  readonly onBudget?: OnBudget;
  /** A cheaper model for summaries and for child agents that read for others. Default: the same model. */
  readonly smallModel?: ChatProvider;
  /**
   * Makes a git work tree with its own tools for a child agent that asks for one. Absent: such children are refused. Not for
   * agents whose `steps` are a journal: a work tree does not survive the machine.
   */
  readonly openWorktree?: OpenWorktree;
  /** The model's reasoning effort. Default: the server decides. `setEffort` changes it. */
  readonly effort?: Effort;
}

const checkRegistryObject: ValueCheck = (name, value) => {
  if (typeof (value as Partial<ToolRegistry> | null)?.prepare !== "function") {
    throw invalidArgument(name, "a ToolRegistry", value);
  }
};

const checkConversation: ValueCheck = (name, value) => {
  if (typeof (value as Partial<Conversation> | null)?.openRound !== "function") {
    throw invalidArgument(name, "a Conversation", value);
  }
};

const checkProvider: ValueCheck = (name, value) => {
  if (typeof (value as Partial<ChatProvider> | null)?.respond !== "function") {
    throw invalidArgument(name, "a ChatProvider with respond()", value);
  }
};

const checkSteps: ValueCheck = (name, value) => {
  const { answer, call } = (value ?? {}) as Partial<Steps>;
  if (typeof answer !== "function" || typeof call !== "function") {
    throw invalidArgument(name, "an object with answer() and call()", value);
  }
};

const checkTelemetry: ValueCheck = (name, value) => {
  if (typeof (value as Partial<Telemetry> | null)?.inSpan !== "function") {
    throw invalidArgument(name, "an object with inSpan()", value);
  }
};

export const checkRules: ValueCheck = (name, value) => {
  const { decide, allow } = (value ?? {}) as Partial<CallRules>;
  if (typeof decide !== "function" || typeof allow !== "function") {
    throw invalidArgument(name, "an object with decide() and allow()", value);
  }
};

const checkHooks: ValueCheck = (name, value) => {
  arrayOf("hooks")(name, value);
  for (const [index, hooks] of (value as unknown[]).entries()) checkCallHooks(`${name}[${index}]`, hooks);
};

const checkContextSchema: ValueCheck = (name, value) => {
  if (typeof (value as Partial<StandardSchema> | null)?.["~standard"]?.validate !== "function") {
    throw invalidArgument(name, "a Standard Schema, such as one of zod, or contextType()", value);
  }
};

const AGENT_OPTIONS: OptionChecks<AgentOptions> = {
  systemPrompt: checkText,
  conversation: checkConversation,
  tools: arrayOf("packs and tools"),
  packs: arrayOf("packs and tools"),
  only: textsOf("tool names"),
  readOnly: checkBoolean,
  enable: textsOf("tool names"),
  disable: textsOf("tool names"),
  registry: checkRegistryObject,
  host: checkObject,
  directories: checkObject,
  resolveModel: checkFunction,
  approve: checkFunction,
  rules: checkRules,
  hooks: checkHooks,
  toolChoice: checkToolChoice,
  beforeRequest: checkFunction,
  stopWhen: checkFunction,
  context: checkContextSchema,
  steps: checkSteps,
  telemetry: checkTelemetry,
  maxTurns: checkPositive,
  maxRepeats: checkPositive,
  maxTurnOutputBytes: checkPositive,
  maxCallsPerAnswer: checkPositive,
  maxOutputRetries: checkNotNegative,
  maxChildAgents: checkNotNegative,
  maxChildDepth: checkNotNegative,
  maxConcurrentChildren: checkPositive,
  maxNestedCalls: checkNotNegative,
  contextTokens: checkPositive,
  maxCost: checkPositive,
  maxTokens: checkPositive,
  onBudget: checkFunction,
  smallModel: checkProvider,
  openWorktree: checkFunction,
  effort: checkEffort,
};

/** Throws `invalid_argument` for an option that is unknown, invalid, or contradicts another. */
export function checkAgentOptions(options: AgentOptions): void {
  checkOptions("Agent", options, AGENT_OPTIONS);
  if (options.tools !== undefined && options.packs !== undefined) {
    throw new AgentError(
      "invalid_argument",
      '"tools" and "packs" were both given. They mean the same: pass one of them.',
    );
  }
  const names = ["tools", "packs", "only", "readOnly", "enable", "disable", "host", "directories"] as const;
  const extra = names.find((name) => options[name] !== undefined);
  if (options.registry !== undefined && extra !== undefined) {
    throw new AgentError(
      "invalid_argument",
      `"registry" and "${extra}" were both given. A registry has its own tools and limits: pass one or the other.`,
    );
  }
}

/**
 * The limits of one run: from the options, else from what the provider says about its model, else the defaults.
 */
export function loopLimits(options: AgentOptions, provider: ChatProvider): LoopLimits {
  const contextTokens = options.contextTokens ?? provider.contextTokens;
  const share = (contextTokens ?? Infinity) * TURN_OUTPUT_SHARE * CHARACTERS_PER_TOKEN;
  return {
    maxTurns: options.maxTurns ?? DEFAULTS.maxTurns,
    maxRepeats: options.maxRepeats ?? DEFAULTS.maxRepeats,
    maxTurnOutputBytes: options.maxTurnOutputBytes ?? Math.min(DEFAULTS.maxTurnOutputBytes, share),
    maxCallsPerAnswer: Math.ceil(options.maxCallsPerAnswer ?? DEFAULTS.maxCallsPerAnswer),
    maxOutputRetries: options.maxOutputRetries ?? DEFAULTS.maxOutputRetries,
    maxChildAgents: options.maxChildAgents ?? DEFAULTS.maxChildAgents,
    maxChildDepth: options.maxChildDepth ?? DEFAULTS.maxChildDepth,
    maxConcurrentChildren: Math.ceil(options.maxConcurrentChildren ?? DEFAULTS.maxConcurrentChildren),
    maxNestedCalls: options.maxNestedCalls ?? DEFAULTS.maxNestedCalls,
    contextTokens,
  };
}
