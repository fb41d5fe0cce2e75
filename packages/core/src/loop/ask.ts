import { throwIfAborted } from "../errors.js";
import type { AgentEvent } from "../events.js";
import type { ChatRequest, ChatResponse } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { AnswerText } from "./answerText.js";
import { respondWithin } from "./budget.js";
import type { Exchange } from "./exchange.js";
import { requestMessages } from "./request.js";
import { modelName } from "./respond.js";
import { choiceFor, type RequestChange, readChange, type StepControl } from "./stepControl.js";
import { toolSubset } from "./toolSubset.js";

/** An answer of the model, and whether a journal gave it. */
export interface Answer {
  readonly response: ChatResponse;
  readonly replayed: boolean;
  /** The exchange as this request saw it: `beforeRequest` may have changed the model or the tools. */
  readonly asked: Exchange;
}

/** The system prompt with what packs add to it. */
export function systemText({ conversation, packPrompt }: Exchange): string {
  return [conversation.systemPrompt, packPrompt].filter((part) => part !== "").join("\n\n");
}

/**
 * Asks the model for its next answer, through the steps. If the user stops the model, the text written so far stays in
 * the conversation, marked as stopped. If the request fails, a partial answer is dropped.
 */
export async function askModel(given: Exchange, turn: number, attempt: number): Promise<Answer> {
  throwIfAborted(given.signal);
  given.packs.refresh();
  const { control } = given;
  const change = control?.beforeRequest ? await changeOf(control.beforeRequest, given, turn) : {};
  const exchange = changed(given, change);
  const { provider, conversation, signal, emit, stream, output, effort, scope, steps } = exchange;
  throwIfAborted(signal);
  const toolChoice = change.toolChoice ?? choiceFor(control?.toolChoice, turn);
  let replayed = true;
  // Ignore text that arrives after the abort: the user did not see it.
  const report = (event: AgentEvent): void => {
    if (!signal.aborted) emit(event);
  };
  const text = new AnswerText(report);
  const drafted = new Set<number>();
  const titleOnce = ({ index, name }: { index: number; name: string }) => {
    if (drafted.has(index)) return {};
    drafted.add(index);
    return { titleFrom: exchange.tools.titleFrom(name) };
  };
  const request: ChatRequest = {
    messages: requestMessages(
      systemText(exchange),
      change.messages ?? conversation.sessionContext,
      provider,
      output,
    ),
    tools: exchange.tools.getSharedSchemas(),
    signal,
    ...(output && { output: output.format }),
    ...(effort !== undefined && { effort }),
    ...(toolChoice !== undefined && { toolChoice }),
    onRetry: (retry) => {
      if (!signal.aborted) text.restart();
      drafted.clear();
      report({ type: "retry", ...retry });
    },
    onNotice: (text) => report({ type: "notice", text }),
    ...(stream && {
      onText: (piece: string) => {
        if (!signal.aborted) text.add(piece);
      },
      onReasoning: (text: string) => report({ type: "reasoning", text }),
      onToolDraft: (draft) => report({ type: "tool_draft", ...draft, ...titleOnce(draft) }),
    }),
  };
  const ask = (): Promise<ChatResponse> => {
    replayed = false;
    const answer = respondWithin(exchange, request);
    exchange.packs.warmUp();
    return answer;
  };
  try {
    const response = await orAborted(
      steps.answer({ scope, turn, kind: "answer", attempt, ...modelName(provider) }, ask),
      signal,
    );
    if (!signal.aborted) text.end();
    return { response, replayed, asked: exchange };
  } catch (error) {
    if (signal.aborted) {
      conversation.append({ role: "assistant", content: text.shown.toWellFormed(), stopped: true });
    }
    throw error;
  }
}

async function changeOf(
  beforeRequest: NonNullable<StepControl["beforeRequest"]>,
  { conversation, tools, meter, context, signal }: Exchange,
  turn: number,
): Promise<RequestChange> {
  const next = {
    turn,
    messages: conversation.sessionContext,
    tools: tools.getSharedSchemas().map((tool) => tool.function.name),
    usage: meter.total,
    ...(context !== undefined && { context }),
  };
  return readChange(await orAborted(Promise.resolve(beforeRequest(next)), signal));
}

function changed(exchange: Exchange, { provider, tools, effort }: RequestChange): Exchange {
  if (!provider && !tools && effort === undefined) return exchange;
  return {
    ...exchange,
    ...(provider && { provider }),
    ...(tools && { tools: toolSubset(exchange.tools, new Set(tools)) }),
    ...(effort !== undefined && { effort }),
  };
}
