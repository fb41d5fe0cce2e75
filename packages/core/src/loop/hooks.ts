import { describeValue, errorMessage, isRecord, quote, truncateMiddle, withTimeout } from "@agent/internal";
import type { Content, ContentPart } from "../conversation/content.js";
import { AgentError } from "../errors.js";
import type { FinishReason } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import type { DescribedCall } from "../tools/callDescription.js";
import type { ToolResult } from "../tools/execution.js";
import type { ToolCapability } from "../tools/tool.js";
import type { Run } from "./run.js";

/** A hook decides without asking the user: one that takes longer is treated as hanging. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** A hook's copy of a call: changing it has no effect. */
export interface HookCall<Context = unknown> {
  /**
   * `""`, or the path of calls to the child agent or the script that makes the call. Agents that run at the same time
   * may use the same ids; `scope` and `id` together are unique.
   */
  readonly scope: string;
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** The `context` that was passed to `chat`. */
  readonly context: Context;
  readonly signal: AbortSignal;
  /**
   * Describes the targets of the call. The tool is asked on the first call; in `afterCall` it is the description from
   * before the call.
   */
  describe(): Promise<DescribedCall>;
}

/**
 * `{ deny }` refuses the call with a reason for the model; `{ args }` changes the arguments, which are validated again;
 * `{ allow: true }` runs the call without asking `approve` (only from hooks in the agent's options: a pack cannot
 * decide for the user). `undefined` leaves the decision to the next hook.
 */
export type BeforeDecision =
  | undefined
  | { readonly allow: true }
  | { readonly deny: string }
  | { readonly args: Readonly<Record<string, unknown>> };

/**
 * `{ text }` replaces the result's text and drops its view, value and parts, which could contain what the hook removed;
 * `{ append }` adds to the text; `undefined` keeps the result.
 */
export type AfterDecision = undefined | { readonly text: string } | { readonly append: string };

/**
 * Functions that run before and after every call, and for whole messages and sessions. A call hook that throws or hangs
 * refuses the call.
 */
export interface CallHooks<Context = unknown> extends LifecycleHooks<Context> {
  /** Used in refusal messages. */
  readonly name: string;
  /** Milliseconds one decision may take. Default: 30 seconds. */
  readonly timeoutMs?: number;
  beforeCall?(call: HookCall<Context>): BeforeDecision | Promise<BeforeDecision>;
  /** Called after the call was approved, right before it runs. A failure refuses the call. */
  beforeRun?(call: HookCall<Context>): void | Promise<void>;
  afterCall?(call: HookCall<Context>, result: ToolResult): AfterDecision | Promise<AfterDecision>;
}

/** The combined decision of all hooks about a call. */
type HookVerdict =
  | { readonly type: "continue"; readonly args?: Record<string, unknown>; readonly allowed: boolean }
  | { readonly type: "deny"; readonly reason: string };

/**
 * Runs the hooks in order: those of packs first, so that the embedder's own see the final arguments. `trusted` are the
 * embedder's, whose "allow" is accepted. `revalidate` checks changed arguments and resolves to the problem.
 */
export async function askBeforeHooks(
  call: HookCall,
  trusted: readonly CallHooks[],
  packs: readonly CallHooks[],
  revalidate: (args: Record<string, unknown>) => Promise<string | undefined>,
): Promise<HookVerdict> {
  let args = call.args;
  let changed = false;
  let allowed = false;
  for (const hooks of [...packs, ...trusted]) {
    if (!hooks.beforeCall) continue;
    const label = `the hook ${quote(hooks.name)}`;
    try {
      const given = { ...call, args: structuredClone(args) };
      const decision: unknown = await withinTime(hooks, call.signal, () => hooks.beforeCall?.(given));
      if (decision === undefined || decision === null) continue;
      if (!isRecord(decision)) return malformed(label, decision);
      if ("deny" in decision) return { type: "deny", reason: `${label}: ${String(decision.deny)}` };
      if ("args" in decision) {
        if (!isRecord(decision.args)) return malformed(label, decision);
        const problem = await revalidate(decision.args);
        if (problem !== undefined) {
          return {
            type: "deny",
            reason: `${label} changed the arguments to ones that do not fit: ${problem}`,
          };
        }
        args = decision.args;
        changed = true;
        // An earlier "allow" applied to other arguments.
        allowed = false;
      } else if (decision.allow === true) {
        allowed ||= trusted.includes(hooks);
      } else {
        return malformed(label, decision);
      }
    } catch (error) {
      return { type: "deny", reason: `${label} failed: ${errorMessage(error)}` };
    }
  }
  return { type: "continue", allowed, ...(changed && { args }) };
}

/**
 * Lets the hooks change a result. If a hook fails, the result is withheld, because the hook might have removed part of
 * it.
 */
export async function askAfterHooks(
  call: HookCall,
  result: ToolResult,
  hooks: readonly CallHooks[],
): Promise<ToolResult> {
  let current = result;
  for (const one of hooks) {
    if (!one.afterCall) continue;
    const label = `the hook ${quote(one.name)}`;
    try {
      const seen = current;
      const decision: unknown = await withinTime(one, undefined, () =>
        one.afterCall?.({ ...call, args: structuredClone(call.args) }, { ...seen }),
      );
      if (decision === undefined || decision === null) continue;
      if (isRecord(decision) && typeof decision.text === "string") {
        const { text } = decision;
        const { view: _view, value: _value, parts: _parts, ...rest } = current;
        current = text === current.text ? current : { ...rest, text };
      } else if (isRecord(decision) && typeof decision.append === "string") {
        current = { ...current, text: `${current.text}\n${decision.append}` };
      } else {
        throw new Error(`it returned ${describeValue(decision)}, which is not a decision`);
      }
    } catch (error) {
      const { view: _view, value: _value, parts: _parts, ...rest } = current;
      current = {
        ...rest,
        outcome: "error",
        text: `Error executing ${call.name}: the call ended, and its result is withheld because ${label} failed: ${errorMessage(error)}`,
      };
    }
  }
  return current;
}

/** Notifies the hooks that a call is about to run. Resolves to a refusal reason if a hook fails. */
export async function announceRun(call: HookCall, hooks: readonly CallHooks[]): Promise<string | undefined> {
  for (const one of hooks) {
    if (!one.beforeRun) continue;
    try {
      const given = { ...call, args: structuredClone(call.args) };
      await withinTime(one, call.signal, () => one.beforeRun?.(given));
    } catch (error) {
      return `the hook ${quote(one.name)} failed: ${errorMessage(error)}`;
    }
  }
  return undefined;
}

function malformed(label: string, decision: unknown): HookVerdict {
  return { type: "deny", reason: `${label} returned ${describeValue(decision)}, which is not a decision.` };
}

/** Rejects if the hook takes too long or the run is aborted. */
async function withinTime<T>(
  { name, timeoutMs = DEFAULT_TIMEOUT_MS }: CallHooks,
  signal: AbortSignal | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  const working = Promise.resolve().then(work);
  return await withTimeout(signal ? orAborted(working, signal) : working, timeoutMs, () => {
    throw new Error(`${quote(name)} did not decide within ${timeoutMs} ms`);
  });
}

// Text that hooks add is sent with every later request.
const MAX_ADDED_BYTES = 8000;
// The number of times hooks may refuse the end of one run, so that two hooks cannot keep a model busy forever.
const MAX_CONTINUATIONS = 3;

/** A message that is about to join the conversation. */
export interface HookMessage<Context = unknown> {
  readonly content: Content;
  /** The sender of the message, if the user did not write it. */
  readonly from?: string;
  readonly context: Context;
  readonly signal: AbortSignal;
}

/** A session that starts or ends. */
export interface HookSession {
  /** Whether the conversation already had messages. */
  readonly resumed: boolean;
}

/** An answer that would end the message. */
export interface HookStop<Context = unknown> {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly turns: number;
  /** How often hooks have refused the end of this message already. */
  readonly continued: number;
  readonly context: Context;
  readonly signal: AbortSignal;
}

/** A conversation that is about to be compacted. */
export interface HookCompact {
  /** About how many tokens the conversation has. */
  readonly tokens: number;
  /** What the user asked the summary to keep. */
  readonly focus?: string;
}

/** `{ add }` adds a text to the message; `{ deny }` refuses it with a reason for the user. */
export type MessageDecision = undefined | { readonly add: string } | { readonly deny: string };

/** `{ add }` adds a text for the model. */
export type AddDecision = undefined | { readonly add: string };

/** `{ deny }` refuses the end of the run: the model reads the reason and continues. At most three times per message. */
export type StopDecision = undefined | { readonly deny: string };

/** Functions for the events of a whole message or session. They can add and refuse, but never allow anything. */
export interface LifecycleHooks<Context = unknown> {
  /**
   * Called before the first message of a session. Its added text is sent with that message. A failure is reported and
   * ignored.
   */
  onSessionStart?(session: HookSession): AddDecision | Promise<AddDecision>;
  /** Called when the agent is disposed of. A failure is ignored. */
  onSessionEnd?(session: HookSession): void | Promise<void>;
  /**
   * Called before a message is added to the conversation, including one given to `steer`. A failure refuses the
   * message.
   */
  onMessage?(message: HookMessage<Context>): MessageDecision | Promise<MessageDecision>;
  /** Called when the model has answered without further calls. A failure is reported, and the run ends. */
  onStop?(stop: HookStop<Context>): StopDecision | Promise<StopDecision>;
  /**
   * Called before older messages are replaced with a summary, which keeps the added text. A failure is reported and
   * ignored.
   */
  onCompact?(compact: HookCompact): AddDecision | Promise<AddDecision>;
}

/** All hooks, those of packs first, and where their failures are reported. */
interface Lifecycle {
  readonly hooks: readonly CallHooks[];
  readonly onProblem: (problem: string) => void;
  readonly redact: (text: string) => string;
}

/** The hooks of a run. */
export function lifecycleOf(run: Run): Lifecycle {
  const { packs, hooks, emit, tools } = run;
  return {
    hooks: [...packs.hooks, ...hooks],
    onProblem: (text) => emit({ type: "notice", text }),
    redact: (text) => tools.redact(text),
  };
}

/** The text that hooks add to the first message of a session. */
export async function startSession(session: HookSession, lifecycle: Lifecycle): Promise<string[]> {
  return await collect(lifecycle, "onSessionStart", (hooks) => hooks.onSessionStart?.(session));
}

/** What all hooks ask the summary to keep. */
export async function beforeCompact(compact: HookCompact, lifecycle: Lifecycle): Promise<string[]> {
  return await collect(lifecycle, "onCompact", (hooks) => hooks.onCompact?.(compact));
}

/** Calls the session-end hooks. Never rejects. */
export async function endSession(session: HookSession, hooks: readonly CallHooks[]): Promise<void> {
  await Promise.all(
    hooks.map(async (one) => {
      if (!one.onSessionEnd) return;
      await withinTime(one, undefined, () => one.onSessionEnd?.(session)).catch(() => undefined);
    }),
  );
}

/** Returns the message with the additions of hooks. Rejects with `message_denied` if a hook refuses it or fails. */
export async function admitMessage(
  message: HookMessage,
  { hooks, redact }: Omit<Lifecycle, "onProblem">,
): Promise<Content> {
  let { content } = message;
  for (const one of hooks) {
    if (!one.onMessage) continue;
    const label = `The hook ${quote(one.name)}`;
    let decision: unknown;
    try {
      const given = { ...message, content: structuredClone(content) };
      decision = await withinTime(one, message.signal, () => one.onMessage?.(given));
    } catch (error) {
      throw denied(`${label} failed, so the message was not sent: ${errorMessage(error)}`, error);
    }
    if (decision === undefined || decision === null) continue;
    if (isRecord(decision) && typeof decision.deny === "string") {
      throw denied(`${label} refused the message: ${decision.deny}`);
    }
    if (!isRecord(decision) || typeof decision.add !== "string") {
      throw denied(`${label} returned ${describeValue(decision)}, which is not a decision.`);
    }
    content = addTo(content, addedText(one, decision.add, redact));
  }
  return content;
}

/** Why the run must not end yet: the reason of the first hook that refuses. */
export async function refuseStop(
  stop: Omit<HookStop, "context" | "signal">,
  hooks: readonly CallHooks[],
  run: Run,
): Promise<string | undefined> {
  const { context, signal } = run;
  const lifecycle = lifecycleOf(run);
  if (stop.continued >= MAX_CONTINUATIONS) return undefined;
  for (const one of hooks) {
    const given = { ...stop, context, signal };
    const decision = await ask(one, lifecycle, "onStop", signal, () => one.onStop?.(given));
    if (decision === undefined) continue;
    if (typeof decision.deny === "string") return addedText(one, decision.deny, lifecycle.redact);
    lifecycle.onProblem(notADecision(one, "onStop", decision));
  }
  return undefined;
}

/** Adds a text to a message. */
export function addTo(content: Content, text: string): Content {
  if (typeof content === "string") return `${content}\n\n${text}`;
  const part: ContentPart = { type: "text", text };
  return [...content, part];
}

async function collect(
  lifecycle: Lifecycle,
  method: "onSessionStart" | "onCompact",
  call: (hooks: CallHooks) => unknown,
): Promise<string[]> {
  const added: string[] = [];
  for (const one of lifecycle.hooks) {
    if (!one[method]) continue;
    const decision = await ask(one, lifecycle, method, undefined, () => call(one));
    if (decision === undefined) continue;
    if (typeof decision.add === "string") added.push(addedText(one, decision.add, lifecycle.redact));
    else lifecycle.onProblem(notADecision(one, method, decision));
  }
  return added;
}

async function ask(
  hooks: CallHooks,
  { onProblem }: Lifecycle,
  method: string,
  signal: AbortSignal | undefined,
  call: () => unknown,
): Promise<Record<string, unknown> | undefined> {
  try {
    const decision = await withinTime(hooks, signal, call);
    if (decision === undefined || decision === null) return undefined;
    return isRecord(decision) ? decision : { returned: decision };
  } catch (error) {
    if (!signal?.aborted)
      onProblem(`The hook ${quote(hooks.name)} failed in ${method}: ${errorMessage(error)}`);
    return undefined;
  }
}

function addedText({ name }: CallHooks, text: string, redact: (text: string) => string): string {
  const bounded = truncateMiddle(text.toWellFormed(), MAX_ADDED_BYTES);
  return `[Added by ${quote(name)}, not written by the user]\n${redact(bounded)}`;
}

function notADecision({ name }: CallHooks, method: string, decision: unknown): string {
  return `The hook ${quote(name)} returned ${describeValue(decision)} from ${method}, which is not a decision.`;
}

function denied(message: string, cause?: unknown): AgentError {
  return new AgentError("message_denied", message, cause === undefined ? {} : { cause });
}
