import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ChatResponse, ChatToolCall, FinishReason, TokenUsage } from "./interface.js";
import { AttemptError } from "./retry.js";

type Usage = ChatCompletion["usage"] | null;
type ToolCallDelta = NonNullable<ChatCompletionChunk.Choice.Delta["tool_calls"]>[number];

/** Reads a whole answer. Throws an `AttemptError` if it holds none. */
export function readCompletion(completion: ChatCompletion): ChatResponse {
  // Servers that only resemble the API answer 200 with an error inside, or with nothing at all.
  const error = (completion as { error?: { message?: string } | string } | null)?.error;
  if (error) {
    const message = typeof error === "string" ? error : (error.message ?? "unknown error");
    throw new AttemptError(message, { retryable: false });
  }
  const choice = completion?.choices?.[0];
  if (!choice?.message) throw new AttemptError("the answer holds no message", { retryable: true });
  const calls = new ToolCallAssembly();
  for (const [index, call] of (choice.message.tool_calls ?? []).entries()) {
    if (call.type === "custom") continue;
    calls.add({ ...call, index });
  }
  return respond(choice.message.content ?? null, calls, choice.finish_reason, completion.usage);
}

/** Puts a streamed answer together, piece by piece. */
export class StreamedCompletion {
  readonly #calls = new ToolCallAssembly();
  #text = "";
  #finish: string | undefined;
  #usage: Usage | undefined;

  /** Takes one chunk and returns the text it adds. */
  add(chunk: ChatCompletionChunk): string {
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.[0];
    if (!choice) return "";
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    for (const call of choice.delta?.tool_calls ?? []) this.#calls.add(call);
    const text = choice.delta?.content ?? "";
    this.#text += text;
    return text;
  }

  /** The whole answer. Throws an `AttemptError` if the stream ended before the model had finished. */
  finish(): ChatResponse {
    if (this.#finish === undefined) {
      throw new AttemptError("the stream ended before the answer was complete", { retryable: true });
    }
    return respond(this.#text === "" ? null : this.#text, this.#calls, this.#finish, this.#usage);
  }
}

/** Tool calls from their pieces, tolerant of servers that leave out ids, indexes or both. */
class ToolCallAssembly {
  readonly #calls: { index: number | undefined; id: string; name: string; arguments: string }[] = [];

  add(delta: Partial<ToolCallDelta>): void {
    const { index, id = "", function: called } = delta;
    const target = this.#find(index, id, called?.name);
    if (target) {
      target.name ||= called?.name ?? "";
      target.arguments += asText(called?.arguments);
      return;
    }
    this.#calls.push({ index, id, name: called?.name ?? "", arguments: asText(called?.arguments) });
  }

  /** The call a piece belongs to: the same index, unless a new id together with a name starts another one. */
  #find(index: number | undefined, id: string, name: string | undefined) {
    const known =
      index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (!known) return undefined;
    const startsAnother = name && (id ? id !== known.id : index === undefined);
    return startsAnother ? undefined : known;
  }

  finished(): ChatToolCall[] {
    return this.#calls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
  }
}

/** Some servers send the arguments as an object where the API says text. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function respond(
  content: string | null,
  calls: ToolCallAssembly,
  finish: string | null | undefined,
  usage: Usage | undefined,
): ChatResponse {
  const toolCalls = calls.finished();
  return {
    content,
    toolCalls,
    finishReason: finishReason(finish, toolCalls.length > 0),
    ...(usage && { usage: readUsage(usage) }),
  };
}

function finishReason(reason: string | null | undefined, hasCalls: boolean): FinishReason {
  if (reason === "length" || reason === "content_filter") return reason;
  return hasCalls ? "tool_calls" : "stop";
}

function readUsage(usage: NonNullable<Usage>): TokenUsage {
  return { inputTokens: usage.prompt_tokens ?? 0, outputTokens: usage.completion_tokens ?? 0 };
}
