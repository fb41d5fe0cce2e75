import { quote } from "@agent/internal";
import { AgentError, isAgentError, throwIfAborted } from "../errors.js";
import type { DoneEvent } from "../events.js";
import type { ChatResponse } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { type Answer, askModel, type CompletedRound, STARTS_AGAIN, type StepControl } from "./askModel.js";
import { createChildStarter } from "./children.js";
import { compactToFit } from "./compact.js";
import { lifecycleOf, refuseStop } from "./hooks.js";
import { steerWith } from "./messages.js";
import { outputCorrection, outputFailure } from "./output.js";
import { findWrittenCall } from "./requestedCalls.js";
import { providerAttributes, usageAttributes } from "./respond.js";
import type { Run, RunParts } from "./run.js";
import { RepeatCounter, resumeToolRound, runToolRound, textOrNull } from "./toolRound.js";
import { countUsage } from "./usage.js";

// How often a call that the model wrote as text is sent back before the message fails.
const MAX_WRITTEN_CALLS = 1;

/**
 * The loop of `chat` and `streamChat`: requests an answer, runs its tool calls, and repeats until an answer has none.
 * Returns the event that ends the run. The history is valid on every exit.
 */
export function runLoop(run: Run): Promise<DoneEvent> {
  const { telemetry, provider, label = "", context } = run;
  const attributes = providerAttributes(provider);
  return telemetry.inSpan({ operation: "invoke_agent", name: label, attributes, context }, async (set) => {
    const done = await loop(run);
    set({ "gen_ai.response.finish_reasons": [done.finishReason], ...usageAttributes(done.usage) });
    return done;
  });
}

/** Creates the context of a run. A child agent's context is derived from its parent's. */
export function createRun(parts: RunParts): Run {
  return { ...parts, startAgent: createChildStarter(parts, (child) => runLoop(createRun(child))) };
}

async function loop(run: Run): Promise<DoneEvent> {
  const { conversation, limits, signal, meter, output } = run;
  const repeats = new RepeatCounter(limits.maxRepeats);
  let rejectedAnswers = 0;
  let writtenCalls = 0;
  let continued = 0;
  if (run.depth === 0 && conversation.pending) {
    await resumeToolRound(conversation.pending, run);
    throwIfAborted(signal);
    await steerWith(run.takeSteering(), run);
  }

  for (let turn = 1; turn <= limits.maxTurns && run.allowance.turns > 0; turn++) {
    run.allowance.turns--;
    const answer = await askWithinContext(run, turn);
    const { response, replayed, asked } = answer;
    countUsage(asked, response.usage, { replayed });
    if (response.toolCalls.length > 0) {
      await runToolRound(answer, turn, asked, repeats);
      throwIfAborted(signal);
      repeats.throwIfStuck();
      if (run.control?.stopWhen && (await stops(run.control.stopWhen, answer, turn))) {
        const text = textOrNull(response.content) ?? "";
        return { type: "done", text, finishReason: "tool_calls", turns: turn, usage: meter.total };
      }
      await steerWith(run.takeSteering(), run);
      continue;
    }
    const text = textOrNull(response.content) ?? "";
    conversation.append({ role: "assistant", content: text, ...ownState(response, asked) });
    const given = run.takeSteering();
    if (given.length > 0 && (await steerWith(given, run))) continue;
    const parsed = output && (await orAborted(output.read(text), signal));
    // An answer that matches `output` may look like a call: it is the answer.
    const isAnswer = parsed !== undefined && !("problem" in parsed);
    const written = isAnswer ? undefined : findWrittenCall(text, run.tools.getSharedSchemas());
    if (written !== undefined) {
      if (++writtenCalls > MAX_WRITTEN_CALLS) throw writtenCallFailure(written);
      discardAnswer(run, writtenCalls, writtenCallReason(written));
      conversation.append({ role: "user", content: writtenCallCorrection(written), generated: true });
      continue;
    }
    if (parsed && "problem" in parsed) {
      rejectedAnswers++;
      if (rejectedAnswers > limits.maxOutputRetries) throw outputFailure(parsed.problem, rejectedAnswers);
      discardAnswer(run, rejectedAnswers, "the answer does not fit the required form");
      conversation.append({ role: "user", content: outputCorrection(parsed.problem), generated: true });
      continue;
    }
    // `stopWhen` does not apply to child agents.
    const stopHooks = run.depth === 0 ? lifecycleOf(run).hooks.filter(({ onStop }) => onStop) : [];
    const stop = { text, finishReason: response.finishReason, turns: turn, continued };
    const refusal = stopHooks.length > 0 ? await refuseStop(stop, stopHooks, run) : undefined;
    if (refusal !== undefined) {
      continued++;
      conversation.append({ role: "user", content: refusal, generated: true });
      continue;
    }
    // Close the queue: a message given to `steer` from now on would never be delivered.
    const last = run.takeSteering({ last: true });
    if (last.length > 0 && (await steerWith(last, run))) continue;
    return {
      type: "done",
      text,
      ...(parsed && { output: parsed.value }),
      finishReason: response.finishReason,
      turns: turn,
      usage: meter.total,
    };
  }
  throw new AgentError(
    "turn_limit",
    `Stopped after ${limits.maxTurns} turns without an answer. Send another message to continue, or raise maxTurns.`,
  );
}

/** Asks the model. If the conversation is too long for it, compacts the conversation and asks once more. */
async function askWithinContext(run: Run, turn: number): Promise<Answer> {
  const { limits } = run;
  if (limits.contextTokens !== undefined) await compactToFit(run, turn, limits.contextTokens);
  try {
    return await askModel(run, turn, 1);
  } catch (error) {
    if (!isAgentError(error, "context_overflow")) throw error;
    if (!(await compactToFit(run, turn, "half"))) throw error;
    return await askModel(run, turn, 2);
  }
}

/** Whether the program wants the message to end after this round. */
async function stops(
  stopWhen: NonNullable<StepControl["stopWhen"]>,
  { response, asked: { meter, context, signal } }: Answer,
  turn: number,
): Promise<boolean> {
  const round = {
    turn,
    text: textOrNull(response.content) ?? "",
    calls: response.toolCalls.map((call) => call.function.name),
    usage: meter.total,
    ...(context !== undefined && { context }),
  } as CompletedRound;
  return (await orAborted(Promise.resolve(stopWhen(round)), signal)) === true;
}

/** Reports that the text of this answer does not count: the model is asked again. */
function discardAnswer({ emit, stream }: Run, attempt: number, reason: string): void {
  emit({ type: "retry", attempt, delayMs: 0, reason });
  if (stream) emit({ type: "text", text: STARTS_AGAIN, whole: "" });
}

function ownState({ state }: ChatResponse, { provider: { id } }: Run) {
  return state === undefined || id === undefined ? {} : { state: { provider: id, value: state } };
}

/** The message to the model about a call that it wrote as text. */
function writtenCallCorrection(name: string): string {
  return `Your last answer has a call of ${quote(name)} written as text. It was not run. Call the tool through the tool interface, or answer without it.`;
}

/** The message to the user about it. */
function writtenCallReason(name: string): string {
  return `the model wrote a call of ${quote(name)} as text, which is not run`;
}

function writtenCallFailure(name: string): AgentError {
  return new AgentError(
    "provider_failed",
    `The model writes its calls of ${quote(name)} as text, so they cannot be run. Turn on tool calls on its server (vLLM: --enable-auto-tool-choice and a parser; llama.cpp: --jinja), or use another model.`,
  );
}
