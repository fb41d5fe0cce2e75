import type { Conversation } from "./conversation/conversation.js";
import { AgentError } from "./errors.js";
import type { CallRules, GivenApprove } from "./loop/approval.js";
import { checkToolChoice, type StepControl } from "./loop/askModel.js";
import type { OnBudget } from "./loop/budget.js";
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

// The share of the context that the results of one answer may fill: one large read must not push everything else out.
const TURN_OUTPUT_SHARE = 0.25;
const CHARACTERS_PER_TOKEN = 4;

export interface AgentOptions<Entries extends readonly PackEntry[] = readonly PackEntry[], Context = unknown>
  extends StepControl<Context> {
  readonly systemPrompt?: string;
  /** The conversation to work on. Default: a new one. */
  readonly conversation?: Conversation;
  /** The agent's tools: packs, packs with options, and single tools: `[fs, [bash, { limits: { timeoutMs: 5000 } }], myTool]`. */
  readonly tools?: CheckedPacks<Entries>;
  /** Another name of `tools`, as the config of the `agent` command has it. Give one of the two. */
  readonly packs?: CheckedPacks<Entries>;
  /** Only these tools run, also among those that come later. It turns none on that is off: `enable` does. */
  readonly only?: readonly AgentToolNames<Entries>[];
  /** `true` runs only tools that do nothing but read, also among those that come later or are turned on. */
  readonly readOnly?: boolean;
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly AgentToolNames<Entries>[];
  /** Tools to turn off. */
  readonly disable?: readonly AgentToolNames<Entries>[];
  /** A registry instead of `tools` and the options about them, for a host that composes its own. */
  readonly registry?: ToolRegistry;
  /** What this program hands to the packs: questions to the user, access rules, `wake`. */
  readonly host?: HostData;
  /** Absolute paths below which packs may keep files: each gets a directory with its name. Default: packs get none. */
  readonly directories?: PackDirectories;
  /** Finds the provider for a name, for child agents that request a `model`. Default: they use the model of their parent. */
  readonly resolveModel?: ResolveModel;
  /** Called before each tool call that could run, to allow or deny it. Default: every call runs. */
  readonly approve?: GivenApprove<NoInfer<Context>>;
  /**
   * Rules that decide about a call before `approve` is asked, and about calls that were approved earlier. Without `approve`,
   * a call that the rules ask about is denied.
   */
  readonly rules?: CallRules;
  /** Hooks that see every call before and after it runs. They run in this order, after the hooks of packs. */
  readonly hooks?: readonly CallHooks<NoInfer<Context>>[];
  /**
   * A schema of the `context` that every message brings for tools, hooks and `approve`: the user, the tenant. It is checked
   * with each message; with it, a message without `context` does not compile. `contextType<T>()` only gives it a type.
   */
  readonly context?: StandardSchema<Context>;
  /** Runs every model answer and tool call as a step. A journal here lets a message survive the process. */
  readonly steps?: Steps;
  /** Receives spans of the agent's work: `openTelemetry()` of `@agent/core/otel`. */
  readonly telemetry?: Telemetry;
  /** The maximum number of model requests for one message, child agents included. Default 100. */
  readonly maxTurns?: number;
  /** The maximum number of identical rounds in a row (same calls, same results). Default 10. */
  readonly maxRepeats?: number;
  /** The maximum size of all tool results of one turn together, in bytes. Default 512 KiB, or a quarter of the context. */
  readonly maxTurnOutputBytes?: number;
  /** The maximum number of calls that run for one answer; the model is informed about the others. Default 128. */
  readonly maxCallsPerAnswer?: number;
  /** The maximum number of times an answer that does not fit `output` is sent back. Default 3. */
  readonly maxOutputRetries?: number;
  /** How many child agents tools may start for one message. Default 32. */
  readonly maxChildAgents?: number;
  /** How deep child agents may be nested. Default 2. */
  readonly maxChildDepth?: number;
  /** How many child agents run at the same time on one level; the others wait. Default 8. */
  readonly maxConcurrentChildren?: number;
  /** How many calls tools may make with `callTool` for one message. Default 10,000. */
  readonly maxNestedCalls?: number;
  /** The conversation's budget in estimated tokens. Default: the provider's `contextTokens`, if it is known. */
  readonly contextTokens?: number;
  /**
   * What all requests of the conversation may cost in dollars, child agents and earlier messages of the session included.
   * It is checked before each request; one that is being answered may exceed it. The price of each model has to be known.
   */
  readonly maxCost?: number;
  /** How many tokens all requests and answers of the conversation may take together, as `maxCost`. */
  readonly maxTokens?: number;
  /** Asked when a request would exceed `maxCost` or `maxTokens`. Default: the message fails with `budget_exceeded`. */
  readonly onBudget?: OnBudget;
  /** A cheaper model for summaries and for child agents that read for others. Default: the same model. */
  readonly smallModel?: ChatProvider;
  /** How much the model thinks before it answers. Default: as the server decides. `setEffort` changes it. */
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
  effort: checkEffort,
};

/** Throws `invalid_argument` for an option that is unknown, wrong, or contradicts another. */
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
      `"registry" and "${extra}" were both given. A registry brings its own tools and limits: pass one or the other.`,
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
