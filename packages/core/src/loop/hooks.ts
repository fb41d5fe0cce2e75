import { describeValue, errorMessage, isRecord, quote, withTimeout } from "@agent/internal";
import { orAborted } from "../toolkit/abort.js";
import type { DescribedCall } from "../tools/callDescription.js";
import type { ToolResult } from "../tools/execution.js";
import type { ToolCapability } from "../tools/types.js";
import type { LifecycleHooks } from "./lifecycle.js";

/** A hook decides without asking the user: one that takes longer is treated as hanging. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** A hook's own copy of a call: changing it has no effect. */
export interface HookCall<Context = unknown> {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** What the caller of `chat` passed as `context`. */
  readonly context?: Context;
  readonly signal: AbortSignal;
  /** What the call acts on. Asks the tool when it is first called; in `afterCall` it is what was described before the call ran. */
  describe(): Promise<DescribedCall>;
}

/**
 * `{ deny }` refuses with a reason for the model; `{ args }` changes the arguments, which are validated again;
 * `{ allow: true }` runs the call without asking `approve` (only from hooks in the Agent's own options: a pack cannot
 * decide for the user). `undefined` leaves the decision to the next hook.
 */
export type BeforeDecision =
  | undefined
  | { readonly allow: true }
  | { readonly deny: string }
  | { readonly args: Readonly<Record<string, unknown>> };

/**
 * `{ text }` replaces the result's text and drops its view, value and parts, which could show what the hook removed;
 * `{ append }` adds to the text; `undefined` leaves the result as it is.
 */
export type AfterDecision = undefined | { readonly text: string } | { readonly append: string };

/**
 * Functions that see every call before and after it runs, and whole messages and sessions. A call hook that throws or hangs
 * refuses the call.
 */
export interface CallHooks<Context = unknown> extends LifecycleHooks {
  /** Named in refusals. */
  readonly name: string;
  /** Milliseconds one decision may take. Default: 30 seconds. */
  readonly timeoutMs?: number;
  beforeCall?(call: HookCall<Context>): BeforeDecision | Promise<BeforeDecision>;
  /** Called after the call was approved, right before it runs. A failure refuses the call. */
  beforeRun?(call: HookCall<Context>): void | Promise<void>;
  afterCall?(call: HookCall<Context>, result: ToolResult): AfterDecision | Promise<AfterDecision>;
}

/** The combined decision of all hooks about a call. */
export type HookVerdict =
  | { readonly type: "continue"; readonly args?: Record<string, unknown>; readonly allowed: boolean }
  | { readonly type: "deny"; readonly reason: string };

/**
 * Asks the hooks in order: those of packs first, so that the embedder's own see the arguments as they will run.
 * `trusted` are the embedder's, whose "allow" counts. `revalidate` checks changed arguments and resolves to what is
 * wrong with them.
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
        // An earlier "allow" was about other arguments.
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

/** Lets the hooks change a result. If a hook fails the result is withheld, because the hook may have had to remove a part. */
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

/** Announces that a call runs now. Resolves to the reason for a refusal if a hook fails. */
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

/** Rejects if the hook takes too long or the exchange is aborted. */
export async function withinTime<T>(
  { name, timeoutMs = DEFAULT_TIMEOUT_MS }: CallHooks,
  signal: AbortSignal | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  const working = Promise.resolve().then(work);
  return await withTimeout(signal ? orAborted(working, signal) : working, timeoutMs, () => {
    throw new Error(`${quote(name)} did not decide within ${timeoutMs} ms`);
  });
}
