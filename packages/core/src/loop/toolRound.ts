import { revealHiddenTags } from "@agent/internal";
import { type ContentPart, contentText, partBytes } from "../conversation/content.js";
import type { AssistantMessage, OpenRound, ToolMessage } from "../conversation/conversation.js";
import { OutputBudget } from "../conversation/outputBudget.js";
import type { PendingCall, PendingRound } from "../conversation/pending.js";
import { AgentError, isAgentError } from "../errors.js";
import type { ChatResponse } from "../providers/interface.js";
import type { ToolResult } from "../tools/execution.js";
import { type LateDecision, SuspendedCall } from "./approval.js";
import type { Answer } from "./askModel.js";
import { type CallScene, CallSlots, prepareRequested, runCall, runsAlone } from "./callPath.js";
import { type RequestedCall, readCalls, toHistory } from "./requestedCalls.js";
import type { Run } from "./run.js";

// The number of concurrent reads: enough to hide latency, few enough to bound open files.
const MAX_CONCURRENT = 16;

// The turn number in step keys for a resumed round, which runs before the next model request.
const BEFORE_FIRST_TURN = 0;

const SUSPENDED = "This call waits for a decision and has not run.";
const UNKNOWN = "Interrupted: whether this call has run is not known. Check before you repeat it.";
const NOT_RUN = "Not run: the message was interrupted by an earlier call of this answer.";

/**
 * Runs the tool calls of one answer, readers in parallel and the others one after the other in order, and adds the
 * answer with all results to the conversation. Every call gets exactly one result, including aborted ones. Rejects,
 * once all calls have finished, if the steps failed or a decision is suspended.
 */
export async function runToolRound(
  { response, replayed }: Answer,
  turn: number,
  run: Run,
  repeats: RepeatCounter,
): Promise<void> {
  const { emit, limits, conversation, tools } = run;
  const { calls, dropped } = readCalls(response, limits.maxCallsPerAnswer, run.tools.getSharedSchemas());
  for (const { id, name, args } of calls) {
    const about = run.stream ? tools.aboutCall(name, args) : {};
    emit({ type: "tool_requested", id, name, args, ...about, ...(replayed && { replayed }) });
  }
  const results = new RoundResults(
    calls.map(({ id }) => id),
    limits.maxTurnOutputBytes,
  );
  const round = conversation.openRound(toAnswer(response, calls, dropped, run.provider.id));
  await runUnfinished(calls, results, round, createScene(calls, turn, run));
  const signatures = results.signatures();
  const note = repeats.count(
    calls.map(({ name, raw }, index) => `${name}\0${raw}\0${signatures[index]}`).join("\0"),
  );
  const lastNotes = dropped > 0 ? [droppedNote(dropped, limits.maxCallsPerAnswer)] : [];
  round.close(results.close(note === undefined ? [] : [note], lastNotes));
}

/** Runs the pending calls, and adds their answer with all results to the conversation. */
export async function resumeToolRound(pending: PendingRound, run: Run): Promise<void> {
  const { conversation, limits } = run;
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
      .filter(({ id }) => Object.hasOwn(run.decisions, id))
      .map(({ id, name, args, description, preview }) => [
        id,
        { decision: run.decisions[id] as never, name, args, shown: description, basis: preview?.basis },
      ]),
  );
  await runUnfinished(calls, results, round, createScene(calls, BEFORE_FIRST_TURN, run, late));
  round.close(results.close([], []));
}

function createScene(
  calls: readonly RequestedCall[],
  turn: number,
  run: Run,
  late: ReadonlyMap<string, LateDecision> = new Map(),
): CallScene {
  const slots = run.slots ?? new CallSlots();
  return { run, turn, slots, late, ids: new Set(calls.map(({ id }) => id)), parents: [] };
}

/** Runs the calls that have no result. Rejects, once all have finished, if one of them failed or was suspended. */
async function runUnfinished(
  calls: readonly RequestedCall[],
  results: RoundResults,
  round: OpenRound,
  scene: CallScene,
): Promise<void> {
  const { run } = scene;
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
  if (run.depth === 0 && [...failures.values()].every(({ error }) => error instanceof SuspendedCall)) {
    const waiting = open.filter(([index]) => !results.has(index));
    round.suspend(
      results.messages(),
      await Promise.all(waiting.map(([index, call]) => pendingCall(call, failures.get(index), run))),
    );
    throw failure.error;
  }
  for (const index of calls.keys()) {
    if (!results.has(index)) results.add(index, { text: unfinishedText(failures.get(index)) });
  }
  round.close(results.close([], []));
  throw failure.error;
}

/** A pending call, with everything a user needs to decide about it. */
async function pendingCall(
  call: RequestedCall,
  failure: Failure | undefined,
  run: Run,
): Promise<PendingCall> {
  const request = failure?.error instanceof SuspendedCall ? failure.error.request : undefined;
  // A question inside a child agent or a nested call is not about this call, which would run again.
  if (request && request.id === call.id && request.scope === run.scope && request.parent === undefined) {
    const { id, name, args, capabilities, description, preview } = request;
    return { id, name, args, capabilities, description, ...(preview && { preview }) };
  }
  // The call comes after the pending one, or contains it. It is described in the current state, so that a user can
  // decide about it too; if earlier calls change what it does, it is asked about again.
  const prepared = await prepareRequested(call, run);
  if ("outcome" in prepared) {
    const { id, name, args } = call;
    return { id, name, args, capabilities: run.tools.getCapabilities(name) };
  }
  const { name, args, capabilities } = prepared;
  const description = await prepared.describe(run.signal);
  const preview = await prepared.preview(run.signal);
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

/** The text stored in a message. Lone surrogates are replaced: servers would refuse every later request with one. */
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

/** Runs the calls and resolves once all have finished. After the first failure no further call is started. */
async function runInOrder(
  calls: readonly (readonly [number, RequestedCall])[],
  scene: CallScene,
  onResult: (index: number, result: ToolResult) => void,
): Promise<ReadonlyMap<number, Failure>> {
  const running = new Set<Promise<unknown>>();
  const failures = new Map<number, Failure>();
  for (const [index, call] of calls) {
    const prepared = await prepareRequested(call, scene.run);
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

// The maximum decoded size of all images and files of one round: servers refuse larger requests.
const MAX_PART_BYTES = 32 * 1024 * 1024;
// The length of the samples compared to tell two images or files apart.
const SAMPLE = 256;

/** The stored results of one answer's calls, with a common size limit for text and parts. */
class RoundResults {
  readonly #ids: readonly string[];
  readonly #budget: OutputBudget;
  readonly #messages: (ToolMessage | undefined)[];
  readonly #parts: (readonly ContentPart[])[];
  #partBytes = 0;

  constructor(ids: readonly string[], maxBytes: number) {
    this.#ids = ids;
    this.#budget = new OutputBudget(maxBytes, ids.length);
    this.#messages = ids.map(() => undefined);
    this.#parts = ids.map(() => []);
  }

  /** Adds the result of one call and returns its current form. */
  add(index: number, { text, parts = [] }: Pick<ToolResult, "text" | "parts">): ToolMessage {
    const kept: ContentPart[] = [];
    const lines = [text];
    for (const part of parts) {
      this.#partBytes += partBytes(part);
      if (this.#partBytes <= MAX_PART_BYTES) kept.push(part);
      else
        lines.push(
          `${contentText([part])} (left out: the results of one turn hold too much. Ask for fewer at a time.)`,
        );
    }
    this.#parts[index] = kept;
    const message = this.#toMessage(
      index,
      this.#budget.add(index, revealHiddenTags(lines.join("\n").toWellFormed())),
    );
    this.#messages[index] = message;
    return message;
  }

  /** Adds a result that is already part of the conversation. */
  restore(message: ToolMessage): void {
    const index = this.#ids.indexOf(message.tool_call_id);
    if (index === -1) return;
    const { content } = message;
    this.#parts[index] = typeof content === "string" ? [] : content.slice(1);
    this.#budget.add(index, textOf(message));
    this.#messages[index] = message;
  }

  /** The results so far, in the order of the calls. */
  messages(): ToolMessage[] {
    return this.#messages.filter((message) => message !== undefined);
  }

  /** Whether a call has a result. */
  has(index: number): boolean {
    return this.#messages[index] !== undefined;
  }

  /** The fingerprint by which two rounds are compared: the texts, and a sample of each image and file. */
  signatures(): string[] {
    return this.#budget
      .texts()
      .map((text, index) => [text, ...(this.#parts[index] ?? []).map(sampleOf)].join("\0"));
  }

  /** All results in the order of the calls; `notes` are added to every one, `lastNotes` to the last. */
  close(notes: readonly string[], lastNotes: readonly string[]): ToolMessage[] {
    const last = this.#ids.length - 1;
    return this.#budget.texts().map((text, index) => {
      const whole = [text, ...notes, ...(index === last ? lastNotes : [])].join("\n");
      const message = this.#messages[index];
      // An unchanged result is the same object, which is already recorded.
      const isSame = message !== undefined && textOf(message) === whole;
      return isSame ? message : this.#toMessage(index, whole);
    });
  }

  #toMessage(index: number, text: string): ToolMessage {
    const parts = this.#parts[index] ?? [];
    const id = this.#ids[index] ?? "";
    if (parts.length === 0) return { role: "tool", tool_call_id: id, content: text };
    return { role: "tool", tool_call_id: id, content: [{ type: "text", text }, ...parts] };
  }
}

function textOf({ content }: ToolMessage): string {
  if (typeof content === "string") return content;
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

function sampleOf(part: ContentPart): string {
  const bytes = part.type === "text" ? part.text : part.data;
  const middle = bytes.length >> 1;
  return `${bytes.length} ${bytes.slice(middle, middle + SAMPLE)}`;
}

const REPEATS_BEFORE_NOTE = 3;

/** Detects a model that repeats the same calls and gets the same results. */
export class RepeatCounter {
  #last = "";
  #count = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a round by its calls and results; from the third repetition on it returns a note for the model. */
  count(signature: string): string | undefined {
    this.#count = signature === this.#last ? this.#count + 1 : 1;
    this.#last = signature;
    if (this.#count < REPEATS_BEFORE_NOTE) return undefined;
    return `[Note: the same call gave the same result ${this.#count} times in a row. Do something else, or answer.]`;
  }

  throwIfStuck(): void {
    if (this.#count < this.#limit) return;
    throw new AgentError(
      "repeated_calls",
      `Stopped: the model made the same tool calls with the same results ${this.#count} times in a row. Rephrase the request, or raise maxRepeats.`,
    );
  }
}
