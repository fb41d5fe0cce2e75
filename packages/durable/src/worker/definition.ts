import type { AgentEvent, Approve, Content, OnBudget, Schema, TokenUsage } from "@agent/core";
import type { RuleTools, Steps } from "@agent/core/host";
import { check, checkOptions, invalidArgument } from "@agent/core/toolkit";

/** The context for creating an agent for one run. */
export interface RunContext<Input = unknown> {
  readonly id: string;
  readonly tenant: string;
  readonly labels: readonly string[];
  readonly input: Input;
  /** The version of the definition when the run was started; it may differ from the current one. */
  readonly startedVersion: string;
  /** Must be passed to the agent as `steps`: without it nothing is recorded. */
  readonly steps: Steps;
  /**
   * Suspends the run until someone has decided. Pass it to the agent as `approve`, or call it from your own `approve`
   * for the calls that need a user.
   */
  readonly approve: Approve;
  /**
   * Suspends the run when its agent reaches `maxCost` or `maxTokens`, until someone approves the same amount again.
   * Pass it to the agent as `onBudget`; without it the run fails there.
   */
  readonly onBudget: OnBudget;
  readonly signal: AbortSignal;
}

/** The part of an `Agent` a worker uses. */
export interface RunAgent {
  streamChat(
    message: Content,
    options?: { readonly signal?: AbortSignal; readonly output?: Schema; readonly context?: unknown },
  ): AsyncIterable<AgentEvent>;
  /** Without it, a message that is sent to a run waits until the agent has answered. */
  steer?(message: Content): boolean;
  settled(): Promise<unknown>;
  dispose(): Promise<void>;
  /** The tools for rules. Without it, an approval with a rule is valid only for its own call. */
  readonly registry?: RuleTools;
}

/** An agent and its task. */
export interface PreparedRun {
  readonly agent: RunAgent;
  readonly message: Content;
  /** As in `agent.chat`. */
  readonly output?: Schema;
  readonly context?: unknown;
  /** Computes the cost of tokens in dollars, for a provider whose usage has no `cost`. It is stored with the run. */
  readonly cost?: (usage: TokenUsage) => number;
  /**
   * Whether the run keeps its worker while the provider waits before its next request, for a provider that asks another
   * model if its requests fail. Default: it leaves its worker if that takes longer than two seconds.
   */
  readonly waitsInWorker?: boolean;
}

/**
 * How runs of one name are executed. `create` is called again whenever a run continues in another process: with the
 * same input it must return an agent with the same initial conversation.
 */
export interface RunDefinition<Input = unknown> {
  readonly name: string;
  /**
   * Changes whenever prompts, tools or the model change. A run that continues under another version reports it. The
   * part after a "+" may be known only to workers: a run that was started with "2.0" matches a worker with "2.0+a81f".
   */
  readonly version: string;
  create(run: RunContext<Input>): PreparedRun | Promise<PreparedRun>;
}

const NAME = /^[\w.-]{1,100}$/;

/** Checks a definition and returns it. Throws `invalid_argument` for one that is incomplete. */
export function defineRun<Input>(definition: RunDefinition<Input>): RunDefinition<Input> {
  check.object("definition", definition);
  checkOptions<RunDefinition<Input>>("defineRun", definition, {
    name: check.text,
    version: check.text,
    create: check.function,
  });
  const { name, version, create } = definition;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalidArgument("name", 'a name of 1 to 100 letters, digits, "_", "." or "-"', name);
  }
  check.text("version", version);
  check.function("create", create);
  return definition;
}
