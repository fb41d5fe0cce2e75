import type { ChatRequest } from "@agent/core";
import {
  type AnswerReader,
  type AttemptError,
  contentText,
  Notices,
  objectSchema,
  outputInstruction,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import { MessageReader } from "./answer.js";
import { cacheControl, withCachePoints } from "./cache.js";
import { wireMessages } from "./messages.js";
import type { AnthropicSettings } from "./options.js";
import { outputSchema } from "./outputSchema.js";

/** Anthropic's Messages API. */
export class MessagesWire implements Wire {
  readonly #settings: AnthropicSettings;
  readonly #notices = new Notices();
  readonly #tools = new ToolAdapter("Anthropic", objectSchema, this.#notices);
  // Learnt from a server or a model that refuses what others take.
  #maxTokens: number;
  #takesFormat = true;

  constructor(settings: AnthropicSettings) {
    this.#settings = settings;
    this.#maxTokens = settings.maxTokens;
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given, cache } = this.#settings;
    const { output, messages } = request;
    const isNative = output !== undefined && this.#takesFormat;
    const system = messages.flatMap((message) =>
      message.role === "system" && message.content.trim() !== "" ? [contentText(message.content)] : [],
    );
    if (output && !isNative) system.push(outputInstruction(output));
    const tools = this.#tools.all(request).map(({ name, description, parameters, strict }) => ({
      name,
      ...(description !== undefined && { description }),
      input_schema: parameters,
      ...(strict && { strict }),
    }));
    const mark = cacheControl(cache);
    const sent = wireMessages(messages, model, (text) => this.#notices.say(request, text));
    // The order in which the server reads it: what never changes first, the growing conversation last.
    const body = {
      max_tokens: this.#maxTokens,
      ...given,
      model,
      stream,
      ...(isNative && {
        output_config: {
          ...(isRecord(given.output_config) && given.output_config),
          format: { type: "json_schema", schema: outputSchema(output.schema) },
        },
      }),
      ...(tools.length > 0 && { tools: system.length > 0 ? tools : withMark(tools, mark) }),
      ...(system.length > 0 && {
        system: withMark(
          system.map((text) => ({ type: "text", text })),
          mark,
        ),
      }),
      messages: withCachePoints(sent, mark),
    };
    return { path: "/v1/messages", body };
  }

  reader(request: ChatRequest): AnswerReader {
    return new MessageReader(this.#settings.model, request);
  }

  learn({ message }: AttemptError, request: ChatRequest): boolean {
    if (!/^4(00|22) /.test(message)) return false;
    const most = Number(/max_tokens: \d+ > (\d+)/.exec(message)?.[1]);
    if (most > 0 && most < this.#maxTokens) {
      this.#maxTokens = most;
      return true;
    }
    const refusesFormat = /output_config|output_format|structured output/i.test(message);
    if (!request.output || !this.#takesFormat || !refusesFormat) return false;
    this.#takesFormat = false;
    return true;
  }
}

/** The list with a cache point on its last item. */
function withMark<T extends object>(items: readonly T[], mark: object | undefined): object[] {
  return items.map((item, index) =>
    mark && index === items.length - 1 ? { ...item, cache_control: mark } : item,
  );
}
