import type { AssistantMessage, OpenRound } from "../conversation/conversation.js";
import type { PendingCall, PendingRound } from "../conversation/pending.js";
import { isAgentError } from "../errors.js";
import type { ChatResponse } from "../providers/interface.js";
import type { ToolResult } from "../tools/execution.js";
import { type LateDecision, SuspendedCall } from "./approval.js";
import type { Answer } from "./ask.js";
import { type CallScene, prepareRequested, runCall, runsAlone } from "./callPath.js";
import { CallSlots } from "./callSlots.js";
import type { ChildStarter } from "./children.js";
import type { Exchange } from "./exchange.js";
import type { RepeatCounter } from "./repeats.js";
import { type RequestedCall, readCalls, toHistory } from "./requestedCalls.js";
import { RoundResults } from "./roundResults.js";

// The number of reads at one time: enough to hide latency, few enough to bound open files.
const MAX_CONCURRENT = 16;

// The turn number in step keys for a resumed round, which runs before the model is asked.
const BEFORE_FIRST_TURN = 0;

const SUSPENDED = "This call waits for a decision and has not run.";
const UNKNOWN = "Interrupted: whether this call has run is not known. Check before you repeat it.";
const NOT_RUN = "Not run: the message was interrupted by an earlier call of this answer.";

/**
 * Runs the tool calls of one answer: readers together, the others one after the other, in the order asked, and adds
 * the answer with all results to the conversation. Every call gets exactly one result, also when it was aborted.
 * Rejects, once all calls have ended, if the steps failed or a decision is suspended.
 */
export async function runToolRound(
  { response, replayed }: Answer,
  turn: number,
  exchange: Exchange,
  startAgent: ChildStarter,
  repeats: RepeatCounter,
): Promise<void> {
  const { emit, limits, conversation, tools } = exchange;
  const { calls, dropped } = readCalls(response, limits.maxCallsPerAnswer, exchange.tools.getSharedSchemas());
  for (const { id, name, args } of calls) {
    const about = exchange.stream ? tools.aboutCall(name, args) : {};
    emit({ type: "tool_requested", id, name, args, ...about, ...(replayed && { replayed }) });
  }
  const results = new RoundResults(
    calls.map(({ id }) => id),
    limits.maxTurnOutputBytes,
  );
  const round = conversation.openRound(toAnswer(response, calls, dropped, exchange.provider.id));
  await runUnfinished(calls, results, round, createScene(calls, turn, exchange, startAgent));
  const signatures = results.signatures();
  const note = repeats.count(
    calls.map(({ name, raw }, index) => `${name}\0${raw}\0${signatures[index]}`).join("\0"),
  );
  const lastNotes = dropped > 0 ? [droppedNote(dropped, limits.maxCallsPerAnswer)] : [];
  round.close(results.close(note === undefined ? [] : [note], lastNotes));
}

/** Runs the calls that waited for a decision, and adds their answer with all results to the conversation. */
export async function resumeToolRound(
  pending: PendingRound,
  exchange: Exchange,
  startAgent: ChildStarter,
): Promise<void> {
  const { conversation, limits } = exchange;
  const { content, tool_calls: toolCalls = [] } = pending.answer;
  const { calls } = readCalls({ content, toolCalls, finishReason: "tool_calls" }, toolCalls.length);
  const results = new RoundResults(
    calls.map(({ id }) => id),
    limits.maxTurnOutputBytes,
  );
  for (const message of pending.results) results.restore(message);
  const round = conversation.reopenRound(pending);
  const late = new Map(
    pending.calls
      .filter(({ id }) => Object.hasOwn(exchange.decisions, id))
      .map(({ id, name, args, description, preview }) => [
        id,
        { decision: exchange.decisions[id] as never, name, args, shown: description, basis: preview?.basis },
      ]),
  );
  await runUnfinished(
    calls,
    results,
    round,
    createScene(calls, BEFORE_FIRST_TURN, exchange, startAgent, late),
  );
  round.close(results.close([], []));
}

function createScene(
  calls: readonly RequestedCall[],
  turn: number,
  exchange: Exchange,
  startAgent: ChildStarter,
  late: ReadonlyMap<string, LateDecision> = new Map(),
): CallScene {
  const slots = exchange.slots ?? new CallSlots();
  return { exchange, turn, startAgent, slots, late, ids: new Set(calls.map(({ id }) => id)), parents: [] };
}

/** Runs the calls that have no result. Rejects, once all have ended, if one of them failed or was suspended. */
async function runUnfinished(
  calls: readonly RequestedCall[],
  results: RoundResults,
  round: OpenRound,
  scene: CallScene,
): Promise<void> {
  const { exchange } = scene;
  const open = [...calls.entries()].filter(([index]) => !results.has(index));
  const failures = await runInOrder(open, scene, (index, result) => {
    const { outcome, durationMs, summary, about, view } = result;
    round.addResult(results.add(index, result), {
      outcome,
      durationMs,
      ...(summary !== undefined && { summary }),
      ...(about && { about }),
      ...(view && { view }),
    });
  });
  const [failure] = failures.values();
  if (!failure) return;
  if (exchange.depth === 0 && [...failures.values()].every(({ error }) => error instanceof SuspendedCall)) {
    const waiting = open.filter(([index]) => !results.has(index));
    round.suspend(
      results.messages(),
      await Promise.all(waiting.map(([index, call]) => pendingCall(call, failures.get(index), exchange))),
    );
    throw failure.error;
  }
  for (const index of calls.keys()) {
    if (!results.has(index)) results.add(index, { text: unfinishedText(failures.get(index)) });
  }
  round.close(results.close([], []));
  throw failure.error;
}

/** A call that waits for a decision, with everything a user needs to decide about it. */
async function pendingCall(
  call: RequestedCall,
  failure: Failure | undefined,
  exchange: Exchange,
): Promise<PendingCall> {
  const request = failure?.error instanceof SuspendedCall ? failure.error.request : undefined;
  // A question inside a child agent or a nested call is not one about this call, which would run again.
  if (request && request.id === call.id && request.scope === exchange.scope && request.parent === undefined) {
    const { id, name, args, capabilities, description, preview } = request;
    return { id, name, args, capabilities, description, ...(preview && { preview }) };
  }
  // The call comes after the one that waits for a decision, or contains it. It is described as things are now, so that a user can decide
  // about it too; if the earlier calls change what it does, it is asked about again.
  const prepared = await prepareRequested(call, exchange);
  if ("outcome" in prepared) {
    const { id, name, args } = call;
    return { id, name, args, capabilities: exchange.tools.getCapabilities(name) };
  }
  const { name, args, capabilities } = prepared;
  const description = await prepared.describe(exchange.signal);
  const preview = await prepared.preview(exchange.signal);
  return { id: call.id, name, args, capabilities, description, ...(preview && { preview }) };
}

/** Why a call failed or was suspended. */
interface Failure {
  readonly error: unknown;
}

function unfinishedText(failure: Failure | undefined): string {
  if (!failure) return NOT_RUN;
  return isAgentError(failure.error, "suspended") ? SUSPENDED : UNKNOWN;
}

/** The text a message may hold. Lone surrogates are replaced: servers would refuse every later request with one. */
export function textOrNull(content: unknown): string | null {
  return typeof content === "string" && content !== "" ? content.toWellFormed() : null;
}

function toAnswer(
  response: ChatResponse,
  calls: readonly RequestedCall[],
  dropped: number,
  provider: string | undefined,
): AssistantMessage {
  // Drop the provider state: the server would refuse state that mentions calls which are not in the history.
  const keepState = provider !== undefined && response.state !== undefined && dropped === 0;
  return {
    role: "assistant",
    content: textOrNull(response.content),
    tool_calls: calls.map(toHistory),
    ...(keepState && { state: { provider, value: response.state } }),
  };
}

function droppedNote(dropped: number, most: number): string {
  return `[Note: the answer held ${dropped} more tool calls than the ${most} that one answer may hold. They were not run.]`;
}

/** Runs the calls and resolves once all have ended. After the first failure no other call is started. */
async function runInOrder(
  calls: readonly (readonly [number, RequestedCall])[],
  scene: CallScene,
  onResult: (index: number, result: ToolResult) => void,
): Promise<ReadonlyMap<number, Failure>> {
  const running = new Set<Promise<unknown>>();
  const failures = new Map<number, Failure>();
  for (const [index, call] of calls) {
    const prepared = await prepareRequested(call, scene.exchange);
    const alone = runsAlone(prepared);
    if (alone) await Promise.all(running);
    else if (running.size >= MAX_CONCURRENT) await Promise.race(running);
    if (failures.size > 0) break;
    const slot = await scene.slots.acquire(alone);
    const ended: Promise<unknown> = runCall(call, prepared, slot, scene)
      .then((result) => onResult(index, result))
      .catch((error: unknown) => {
        failures.set(index, { error });
      })
      .finally(() => {
        slot.release();
        running.delete(ended);
      });
    running.add(ended);
    if (alone) await ended;
  }
  await Promise.all(running);
  return failures;
}
