import {
  type ChatMessage,
  type ChatProvider,
  type ChatRequest,
  type ChatResponse,
  type ChatToolCall,
  type Content,
  contentText,
} from "@agent/core";
import { DISCLOSURE, decline, type Finished, hasFailed, help, reportCall } from "./answer.js";
import { planRequest } from "./plan.js";
import type { PlannedCall, PlannedRound } from "./types.js";

/**
 * Answers without a language model: it reads plain requests by rules, asks for the tools they need through the
 * same loop as any provider, and reports the results. The same conversation always gets the same answer, and
 * a request it does not understand in full leads to no call at all.
 */
export class OfflineProvider implements ChatProvider {
  readonly model = "offline";
  readonly price = { input: 0, output: 0 };

  async respond(request: ChatRequest): Promise<ChatResponse> {
    request.signal.throwIfAborted();
    const start = request.messages.findLastIndex((message) => message.role === "user");
    const asked = request.messages[start];
    const since = request.messages.slice(start + 1);
    const plan = planRequest(asked?.role === "user" ? ownWords(asked.content) : "", request.tools);
    if (plan.kind === "help") return this.#answer(request, help(request.tools));
    if (plan.kind === "declined") return this.#answer(request, decline(plan.part, plan.hint, request.tools));

    const rounds = since.filter((message) => message.role === "assistant").length;
    const finished = finishedCalls(plan.steps.slice(0, rounds), since);
    const failed = finished.some(hasFailed);
    const next = plan.steps[rounds];
    if (next && !failed) return callTools(next, request.messages.length);
    const report = finished.map(reportCall);
    const left = plan.steps.length - rounds;
    if (failed && left > 0)
      report.push(
        left === 1 ? "The step after it was not started." : `The ${left} steps after it were not started.`,
      );
    return this.#answer(request, report.map((part) => part.replace(/\n+$/, "")).join("\n\n"));
  }

  #answer({ messages, onText }: ChatRequest, text: string): ChatResponse {
    const isFresh = !messages.some(({ role, content }) => role === "assistant" && content);
    const content = isFresh ? `${DISCLOSURE}\n\n${text}` : text;
    onText?.(content);
    return { content, toolCalls: [], finishReason: "stop" };
  }
}

function callTools(step: PlannedRound, position: number): ChatResponse {
  const toolCalls = step.map(
    ({ tool, args }, index): ChatToolCall => ({
      // Unique within the conversation, and the same each time.
      id: `offline_${position}_${index}`,
      type: "function",
      function: { name: tool, arguments: JSON.stringify(args) },
    }),
  );
  return { content: null, toolCalls, finishReason: "tool_calls" };
}

/** The calls of the steps so far with their results, which come in the same order. */
function finishedCalls(steps: readonly PlannedRound[], since: readonly ChatMessage[]): Finished[] {
  const results = since.filter((message) => message.role === "tool");
  return steps
    .flat()
    .map((call: PlannedCall, index) => ({ call, result: contentText(results[index]?.content ?? "") }));
}

/** What follows the words of the user in a message: notes and the content of files. */
const ADDED = /\n<(?:note|file|directory)\b[^\n]*>\n/;

/** What the user wrote. Parts that are all text arrive as one. */
function ownWords(content: Content): string {
  const text = contentText(typeof content === "string" ? content : content.slice(0, 1));
  return text.split(ADDED, 1)[0] ?? "";
}
