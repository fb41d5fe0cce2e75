import type { CallHooks, HookCall } from "../loop/hooks.js";
import type { ToolResult } from "../tools/execution.js";
import type { HookName, ManifestHooks } from "./manifest.js";
import type { Frame } from "./protocol.js";

/** The same limit as for hooks of packs in the process of the host. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** The decisions whose text may be long. */
const TEXTS = ["text", "append", "add", "deny"];

/** A question to a hook. */
interface HookQuestion {
  /** The index of the pack's set of hooks. */
  readonly hook: number;
  readonly method: HookName;
  readonly event: unknown;
  readonly result?: unknown;
}

/** Sends a question to the process. `call` answers what the hook asks about the call. */
export type AskHook = (question: HookQuestion, signal: AbortSignal, call?: HookCall) => Promise<Frame>;

/**
 * The hooks of a pack as the loop calls them, those that were granted. One that does not answer in time is stopped with its
 * process, and fails: the call is refused then.
 */
export function hookProxies(
  pack: string,
  manifest: readonly ManifestHooks[],
  granted: readonly HookName[],
  ask: AskHook,
): CallHooks[] {
  return manifest.flatMap(({ timeoutMs = DEFAULT_TIMEOUT_MS, methods }, hook) => {
    const send = async (
      question: Omit<HookQuestion, "hook">,
      signal?: AbortSignal,
      call?: HookCall,
    ): Promise<never> => {
      const limit = AbortSignal.timeout(timeoutMs);
      const either = signal ? AbortSignal.any([signal, limit]) : limit;
      return decisionOf(await ask({ hook, ...question }, either, call)) as never;
    };
    const aboutCall = ({ scope, id, name, args, capabilities }: HookCall) => ({
      ...{ scope, id, name, args, capabilities },
    });
    const all: Required<Pick<CallHooks, HookName>> = {
      beforeCall: (call) => send({ method: "beforeCall", event: aboutCall(call) }, call.signal, call),
      beforeRun: (call) => send({ method: "beforeRun", event: aboutCall(call) }, call.signal, call),
      afterCall: (call, result) =>
        send({ method: "afterCall", event: aboutCall(call), result: aboutResult(result) }, undefined, call),
      onMessage: ({ content, from, signal }) =>
        send({ method: "onMessage", event: { content, ...(from !== undefined && { from }) } }, signal),
      onStop: ({ text, finishReason, turns, continued, signal }) =>
        send({ method: "onStop", event: { text, finishReason, turns, continued } }, signal),
      onCompact: (event) => send({ method: "onCompact", event }),
      onSessionStart: (event) => send({ method: "onSessionStart", event }),
      onSessionEnd: (event) => send({ method: "onSessionEnd", event }),
    };
    const used = methods.filter((method) => granted.includes(method));
    if (used.length === 0) return [];
    // The name that the user approved, so that a hook cannot impersonate another pack.
    return [{ name: pack, timeoutMs, ...Object.fromEntries(used.map((method) => [method, all[method]])) }];
  });
}

/** Views, values, images and files are for displays: a hook decides about the text. */
function aboutResult({ text, outcome, durationMs, summary }: ToolResult) {
  return { text, outcome, durationMs, ...(summary !== undefined && { summary }) };
}

function decisionOf({ message: { result }, raw }: Frame): unknown {
  if (raw === undefined) return result ?? undefined;
  if (typeof result !== "string" || !TEXTS.includes(result)) {
    throw new Error("it returned a decision that is too long");
  }
  return { [result]: raw.toString() };
}
