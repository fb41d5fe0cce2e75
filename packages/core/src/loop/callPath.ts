import { isAgentError } from "../errors.js";
import { orAborted } from "../toolkit/abort.js";
import type { ToolResult } from "../tools/execution.js";
import type { PreparedCall } from "../tools/preparedCall.js";
import { ApprovalGate } from "./approval.js";
import type { CallPlace, ChildStarter } from "./children.js";
import type { Exchange } from "./exchange.js";
import { askAfterHooks, askBeforeHooks, type HookCall } from "./hooks.js";
import type { RequestedCall } from "./requestedCalls.js";

/**
 * The one path of a call: requested → prepared (look-up, validation; no side effect) → decided (hooks, then
 * `approve`) → run → settled. Emits `tool_start` only when the tool really runs, and `tool_end` in any case. Rejects
 * only if the steps do, or if the decision is suspended.
 */
export async function runCall(
  call: RequestedCall,
  turn: number,
  exchange: Exchange,
  startAgent: ChildStarter,
): Promise<ToolResult> {
  const { id } = call;
  const prepared = await prepare(call, exchange);
  let replayed = true;
  const { scope, tools, steps } = exchange;
  // A redirected call is reported under the name of the tool it was redirected to.
  const { name, args } = "outcome" in prepared ? call : prepared;
  // Refusals go through the steps too: when a message is replayed, a tool that is not registered yet must not change a
  // recorded result.
  const key = {
    scope,
    turn,
    callId: id,
    name,
    args,
    capabilities: tools.getCapabilities(name),
    repeatable: tools.isRepeatable(name),
  };
  const result = await steps.call(key, async (intent) => {
    replayed = false;
    if ("outcome" in prepared) return prepared;
    return await decideAndRun({ turn, callId: id }, prepared, exchange, startAgent, intent);
  });
  exchange.emit({ type: "tool_end", id, name, ...result, ...(replayed && { replayed }) });
  return result;
}

async function prepare(
  { name, args, problem }: RequestedCall,
  { tools, signal }: Exchange,
): Promise<PreparedCall | ToolResult> {
  if (problem !== undefined) {
    return { outcome: "error", text: `Error executing ${name}: ${problem}`, durationMs: 0 };
  }
  try {
    // A schema library may run code that never returns.
    return await orAborted(tools.prepare(name, args), signal);
  } catch {
    return abortedBefore(name);
  }
}

async function decideAndRun(
  place: CallPlace,
  prepared: PreparedCall,
  exchange: Exchange,
  startAgent: ChildStarter,
  intent: (() => void | Promise<void>) | undefined,
): Promise<ToolResult> {
  const decided = await decide(place, prepared, exchange);
  if ("outcome" in decided) return decided;
  await intent?.();
  return await execute(place, decided, exchange, startAgent);
}

interface Decided {
  /** The call that runs: hooks may have changed its arguments. */
  readonly call: PreparedCall;
  /** Whether access beyond the rules was allowed. */
  readonly isGranted: boolean;
}

/** Asks the hooks first, then `approve`. */
async function decide(
  { turn, callId: id }: CallPlace,
  prepared: PreparedCall,
  exchange: Exchange,
): Promise<Decided | ToolResult> {
  const { tools, gate, signal, context, scope } = exchange;
  if (signal.aborted) return abortedBefore(prepared.name);
  let call = prepared;
  let allowed = false;
  const packHooks = exchange.packs.hooks;
  if (exchange.hooks.length + packHooks.length > 0) {
    const revalidate = async (args: Record<string, unknown>): Promise<string | undefined> => {
      const again = await tools.prepare(prepared.name, args);
      if ("outcome" in again) return again.text;
      call = again;
      return undefined;
    };
    const verdict = await askBeforeHooks(hookCall(id, call, exchange), exchange.hooks, packHooks, revalidate);
    if (signal.aborted) return abortedBefore(prepared.name);
    if (verdict.type === "deny") return denied(verdict.reason);
    ({ allowed } = verdict);
  }
  const given = Object.hasOwn(exchange.decisions, id) ? exchange.decisions[id] : undefined;
  if (allowed || (!gate && given === undefined)) return { call, isGranted: allowed };
  const { name, args, capabilities, needs } = call;
  const request = { scope, turn, id, name, args, capabilities, needs, context, signal };
  // A decision may exist for a call although this agent has no `approve`.
  const refusal = await (gate ?? new ApprovalGate(() => "allow")).check(request, given);
  if (signal.aborted) return abortedBefore(name);
  return refusal === undefined ? { call, isGranted: true } : denied(refusal);
}

async function execute(
  place: CallPlace,
  { call, isGranted }: Decided,
  exchange: Exchange,
  startAgent: ChildStarter,
): Promise<ToolResult> {
  const { emit, signal, telemetry, context, tools } = exchange;
  const { name, args, needs } = call;
  const id = place.callId;
  const children = new Set<Promise<unknown>>();
  let suspension: unknown;
  const attributes = { "gen_ai.tool.call.id": id, "gen_ai.tool.type": "function" };
  const result = await telemetry.inSpan({ operation: "execute_tool", name, attributes }, async (set) => {
    const ended = await call.run({
      signal,
      granted: isGranted ? needs : [],
      context,
      startAgent: (request, childSignal = signal) => {
        const child = startAgent(place, request, childSignal);
        children.add(
          child.catch((error: unknown) => {
            if (isAgentError(error, "suspended")) suspension = error;
          }),
        );
        return child;
      },
      onStart: () => emit({ type: "tool_start", id, name, args }),
      onOutput: (chunk) => emit({ type: "tool_output", id, name, chunk }),
      onProcess: (pid) => emit({ type: "tool_process", id, name, pid }),
    });
    // Child agents that the tool did not wait for were aborted when it returned.
    await Promise.all(children);
    // The tool may have returned a result, but its child agent was suspended and has not finished.
    if (suspension !== undefined) throw suspension;
    set(ended.outcome === "ok" ? {} : { "error.type": ended.outcome }, () => ({
      "gen_ai.tool.call.arguments": JSON.stringify(args),
      "gen_ai.tool.call.result": ended.text,
    }));
    return ended;
  });
  const hooks = [...exchange.packs.hooks, ...exchange.hooks].filter(({ afterCall }) => afterCall);
  if (hooks.length === 0) return result;
  const changed = await askAfterHooks(hookCall(id, call, exchange), result, hooks);
  return changed === result ? result : { ...changed, text: tools.redact(changed.text) };
}

function hookCall(id: string, { name, args, capabilities }: PreparedCall, exchange: Exchange): HookCall {
  const { context, signal } = exchange;
  return { id, name, args, capabilities, context, signal };
}

function denied(reason: string): ToolResult {
  return { outcome: "denied", text: `Tool call denied: ${reason}`, durationMs: 0 };
}

function abortedBefore(name: string): ToolResult {
  return { outcome: "aborted", text: `Error executing ${name}: aborted before it started.`, durationMs: 0 };
}
