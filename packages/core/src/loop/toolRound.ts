import type { AssistantMessage, OpenRound } from "../conversation/conversation.js";
import type { PendingCall, PendingRound } from "../conversation/pending.js";
import { isAgentError } from "../errors.js";
import type { ChatResponse, ChatToolCall } from "../providers/interface.js";
import { quote } from "../toolkit/describe.js";
import { isRecord } from "../toolkit/isRecord.js";
import { isNestedDeeper } from "../toolkit/jsonDepth.js";
import { MAX_ARGUMENT_DEPTH } from "../tools/arguments.js";
import { asToolName } from "../tools/toolName.js";
import type { ToolCapability } from "../tools/types.js";
import { SuspendedCall } from "./approval.js";
import type { Answer } from "./ask.js";
import { type RequestedCall, runCall } from "./callPath.js";
import type { ChildStarter } from "./children.js";
import type { Exchange } from "./exchange.js";
import type { RepeatCounter } from "./repeats.js";
import { RoundResults } from "./roundResults.js";

// Calls of these run alone and in order: two edits of one file must not meet.
const EXCLUSIVE: readonly ToolCapability[] = ["write", "destroy", "execute"];
// Readers at one time: enough to hide waiting, few enough to bound what is open at once.
const MAX_CONCURRENT = 16;

// What steps call the place of a round that goes on before the model is asked.
const BEFORE_FIRST_TURN = 0;

const SUSPENDED = "This call waits for a decision and has not run.";
const UNKNOWN = "Interrupted: whether this call has run is not known. Check before you repeat it.";
const NOT_RUN = "Not run: the message was interrupted by an earlier call of this answer.";

interface RoundCall extends RequestedCall {
  /** The arguments' text as it came. */
  readonly raw: string;
}

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
  const { emit, limits, conversation } = exchange;
  const { calls, dropped } = readCalls(response, limits.maxCallsPerAnswer);
  for (const { id, name, args } of calls) {
    emit({ type: "tool_requested", id, name, args, ...(replayed && { replayed }) });
  }
  const results = new RoundResults(
    calls.map(({ id }) => id),
    limits.maxTurnOutputBytes,
  );
  const round = conversation.openRound(toAnswer(response, calls, dropped, exchange.provider.id));
  await runUnfinished(calls, results, round, turn, exchange, startAgent);
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
  await runUnfinished(calls, results, round, BEFORE_FIRST_TURN, exchange, startAgent);
  round.close(results.close([], []));
}

/** Runs the calls that have no result. Rejects, once all have ended, if one could not get to its end. */
async function runUnfinished(
  calls: readonly RoundCall[],
  results: RoundResults,
  round: OpenRound,
  turn: number,
  exchange: Exchange,
  startAgent: ChildStarter,
): Promise<void> {
  const failures = await runInOrder(calls, exchange, async (call, index) => {
    if (results.has(index)) return;
    const result = await runCall(call, turn, exchange, startAgent);
    round.addResult(results.add(index, result));
  });
  const [failure] = failures.values();
  if (!failure) return;
  if (exchange.depth === 0 && [...failures.values()].every(({ error }) => error instanceof SuspendedCall)) {
    const open = [...calls.entries()].filter(([index]) => !results.has(index));
    round.suspend(
      results.messages(),
      open.map(([index, call]) => pendingCall(call, failures.get(index), exchange)),
    );
    throw failure.error;
  }
  for (const index of calls.keys()) {
    if (!results.has(index)) results.add(index, { text: unfinishedText(failures.get(index)) });
  }
  round.close(results.close([], []));
  throw failure.error;
}

function pendingCall(call: RoundCall, failure: Failure | undefined, { tools }: Exchange): PendingCall {
  if (failure?.error instanceof SuspendedCall) {
    const { id, name, args, capabilities, needs } = failure.error.request;
    return { id, name, args, capabilities, needs };
  }
  // It comes after the call that waits, and was not looked at.
  const { id, name, args } = call;
  return { id, name, args, capabilities: tools.getCapabilities(name), needs: [] };
}

/** Why a call did not get to its end. */
interface Failure {
  readonly error: unknown;
}

function unfinishedText(failure: Failure | undefined): string {
  if (!failure) return NOT_RUN;
  return isAgentError(failure.error, "suspended") ? SUSPENDED : UNKNOWN;
}

/** What a message may hold as its text. Half a character would make servers refuse the conversation for ever. */
export function textOrNull(content: unknown): string | null {
  return typeof content === "string" && content !== "" ? content.toWellFormed() : null;
}

function toAnswer(
  response: ChatResponse,
  calls: readonly RoundCall[],
  dropped: number,
  provider: string | undefined,
): AssistantMessage {
  // State that mentions calls which are not in the history would be refused by the server it goes back to.
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

function readCalls(response: ChatResponse, most: number): { calls: RoundCall[]; dropped: number } {
  const used = new Set<string>();
  const calls = response.toolCalls.slice(0, most).map((call: Partial<ChatToolCall>, index) => {
    const name = asText(call?.function?.name);
    const raw = asText(call?.function?.arguments);
    // Some servers send no id, or the same one twice; each result must still find its call.
    let id = asText(call?.id) || `call_${index}`;
    while (used.has(id)) id = `${id}_${index}`;
    used.add(id);
    return { id, name, raw, ...readArguments(raw, response.finishReason === "length") };
  });
  return { calls, dropped: response.toolCalls.length - calls.length };
}

/** A provider may pass on what its server made up: an object for arguments, no name at all. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value.toWellFormed() : (JSON.stringify(value) ?? "");
}

function readArguments(raw: string, cutOff: boolean): Pick<RoundCall, "args" | "problem"> {
  if (cutOff) {
    return {
      args: {},
      problem:
        "the answer reached its length limit before the call was complete, so nothing was run. Make a shorter call.",
    };
  }
  if (raw.trim() === "") return { args: {}, problem: undefined };
  // Before they are parsed: whoever copies or shows them would run out of stack.
  if (isNestedDeeper(raw, MAX_ARGUMENT_DEPTH)) {
    return { args: {}, problem: `the arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.` };
  }
  try {
    const args: unknown = JSON.parse(raw);
    if (isRecord(args)) return { args, problem: undefined };
    return { args: {}, problem: `the arguments must be a JSON object, got ${quote(raw)}.` };
  } catch (error) {
    return {
      args: {},
      problem: `the arguments are not valid JSON (${(error as Error).message}): ${quote(raw)}`,
    };
  }
}

/** The call as it is kept: servers refuse a history with names or arguments they could not have sent. */
function toHistory({ id, name, raw, problem }: RoundCall): ChatToolCall {
  const readable = problem === undefined && raw.trim() !== "";
  return { id, type: "function", function: { name: asToolName(name), arguments: readable ? raw : "{}" } };
}

/** Runs the calls and resolves once all have ended. After the first failure no other call is started. */
async function runInOrder(
  calls: readonly RoundCall[],
  { tools }: Exchange,
  run: (call: RoundCall, index: number) => Promise<void>,
): Promise<ReadonlyMap<number, Failure>> {
  const running = new Set<Promise<unknown>>();
  const failures = new Map<number, Failure>();
  for (const [index, call] of calls.entries()) {
    const capabilities = tools.getCapabilities(call.name);
    const exclusive = EXCLUSIVE.some((capability) => capabilities.includes(capability));
    if (exclusive) await Promise.all(running);
    else if (running.size >= MAX_CONCURRENT) await Promise.race(running);
    if (failures.size > 0) break;
    const ended: Promise<unknown> = run(call, index)
      .catch((error: unknown) => failures.set(index, { error }))
      .finally(() => running.delete(ended));
    running.add(ended);
    if (exclusive) await ended;
  }
  await Promise.all(running);
  return failures;
}
