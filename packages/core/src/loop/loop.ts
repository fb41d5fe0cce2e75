import type { Content } from "../conversation/content.js";
import { AgentError, isAgentError, throwIfAborted } from "../errors.js";
import type { DoneEvent } from "../events.js";
import type { ChatResponse } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { STARTS_AGAIN } from "./answerText.js";
import { type Answer, askModel } from "./ask.js";
import { createChildStarter } from "./children.js";
import { compactToFit } from "./compact.js";
import type { Exchange } from "./exchange.js";
import { admitMessage, lifecycleOf, refuseStop } from "./lifecycle.js";
import { outputCorrection, outputFailure } from "./output.js";
import { RepeatCounter } from "./repeats.js";
import { providerAttributes, usageAttributes } from "./respond.js";
import type { StepControl } from "./stepControl.js";
import { resumeToolRound, runToolRound, textOrNull } from "./toolRound.js";
import { countUsage } from "./usage.js";
import {
  findWrittenCall,
  writtenCallCorrection,
  writtenCallFailure,
  writtenCallReason,
} from "./writtenCalls.js";

// How often a call that the model wrote as text is sent back before the message fails.
const MAX_WRITTEN_CALLS = 1;

/**
 * The one loop behind `chat` and `streamChat`: ask the model, run the tools it wants, until it answers without any.
 * Returns the event that ends the exchange. The history stays valid on every exit.
 */
export function runLoop(exchange: Exchange): Promise<DoneEvent> {
  const { telemetry, provider, label = "", context } = exchange;
  const attributes = providerAttributes(provider);
  return telemetry.inSpan({ operation: "invoke_agent", name: label, attributes, context }, async (set) => {
    const done = await loop(exchange);
    set({ "gen_ai.response.finish_reasons": [done.finishReason], ...usageAttributes(done.usage) });
    return done;
  });
}

async function loop(exchange: Exchange): Promise<DoneEvent> {
  const { conversation, limits, signal, meter, output } = exchange;
  const repeats = new RepeatCounter(limits.maxRepeats);
  const startAgent = createChildStarter(exchange, runLoop);
  let rejectedAnswers = 0;
  let writtenCalls = 0;
  let continued = 0;
  if (exchange.depth === 0 && conversation.pending) {
    await resumeToolRound(conversation.pending, exchange, startAgent);
    throwIfAborted(signal);
    await steerWith(exchange.takeSteering(), exchange);
  }

  for (let turn = 1; turn <= limits.maxTurns && exchange.allowance.turns > 0; turn++) {
    exchange.allowance.turns--;
    const answer = await askWithinContext(exchange, turn);
    const { response, replayed, asked } = answer;
    countUsage(asked, response.usage, { replayed });
    if (response.toolCalls.length > 0) {
      await runToolRound(answer, turn, asked, startAgent, repeats);
      throwIfAborted(signal);
      repeats.throwIfStuck();
      if (exchange.control?.stopWhen && (await stops(exchange.control.stopWhen, answer, turn))) {
        const text = textOrNull(response.content) ?? "";
        return { type: "done", text, finishReason: "tool_calls", turns: turn, usage: meter.total };
      }
      await steerWith(exchange.takeSteering(), exchange);
      continue;
    }
    const text = textOrNull(response.content) ?? "";
    conversation.append({ role: "assistant", content: text, ...ownState(response, asked) });
    const given = exchange.takeSteering();
    if (given.length > 0 && (await steerWith(given, exchange))) continue;
    const parsed = output && (await orAborted(output.read(text), signal));
    // An answer that fits the wanted form may look like a call: it is the answer.
    const isAnswer = parsed !== undefined && !("problem" in parsed);
    const written = isAnswer ? undefined : findWrittenCall(text, exchange.tools.getSharedSchemas());
    if (written !== undefined) {
      if (++writtenCalls > MAX_WRITTEN_CALLS) throw writtenCallFailure(written);
      // The text is not the answer: a display discards it.
      exchange.emit({ type: "retry", attempt: writtenCalls, delayMs: 0, reason: writtenCallReason(written) });
      if (exchange.stream) exchange.emit({ type: "text", text: STARTS_AGAIN, whole: "" });
      conversation.append({ role: "user", content: writtenCallCorrection(written), generated: true });
      continue;
    }
    if (parsed && "problem" in parsed) {
      rejectedAnswers++;
      if (rejectedAnswers > limits.maxOutputRetries) throw outputFailure(parsed.problem, rejectedAnswers);
      conversation.append({ role: "user", content: outputCorrection(parsed.problem), generated: true });
      continue;
    }
    // Child agents end as they decide.
    const stopHooks = exchange.depth === 0 ? lifecycleOf(exchange).hooks.filter(({ onStop }) => onStop) : [];
    const stop = { text, finishReason: response.finishReason, turns: turn, continued };
    const refusal = stopHooks.length > 0 ? await refuseStop(stop, stopHooks, exchange) : undefined;
    if (refusal !== undefined) {
      continued++;
      conversation.append({ role: "user", content: refusal, generated: true });
      continue;
    }
    // Close the queue: a message given to `steer` from now on would never be delivered.
    const last = exchange.takeSteering({ last: true });
    if (last.length > 0 && (await steerWith(last, exchange))) continue;
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
    `Stopped after ${limits.maxTurns} turns without an answer. Send another message to go on, or raise maxTurns.`,
  );
}

/** Adds messages given to `steer`, unless a hook refuses them. Resolves to whether any was added. */
export async function steerWith(given: readonly Content[], exchange: Exchange): Promise<boolean> {
  const { emit, context, signal } = exchange;
  let isAdded = false;
  for (const content of given) {
    try {
      addSteered(exchange, content, await admitMessage({ content, context, signal }, lifecycleOf(exchange)));
      isAdded = true;
    } catch (error) {
      if (!isAgentError(error, "message_denied")) throw error;
      emit({ type: "notice", text: error.message });
    }
  }
  return isAdded;
}

/** Adds a message given to `steer`, as hooks changed it. */
export function addSteered({ conversation, emit }: Exchange, content: Content, admitted = content): void {
  conversation.append({ role: "user", content: admitted });
  emit({ type: "steered", content });
}

/** Asks the model. If the conversation is too long for it, compacts the conversation and asks once more. */
async function askWithinContext(exchange: Exchange, turn: number): Promise<Answer> {
  const { limits } = exchange;
  if (limits.contextTokens !== undefined) await compactToFit(exchange, turn, limits.contextTokens);
  try {
    return await askModel(exchange, turn, 1);
  } catch (error) {
    if (!isAgentError(error, "context_overflow")) throw error;
    if (!(await compactToFit(exchange, turn, "half"))) throw error;
    return await askModel(exchange, turn, 2);
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
  };
  return (await orAborted(Promise.resolve(stopWhen(round)), signal)) === true;
}

function ownState({ state }: ChatResponse, { provider: { id } }: Exchange) {
  return state === undefined || id === undefined ? {} : { state: { provider: id, value: state } };
}
