import type { ChatRequest, Effort } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerReader,
  type AttemptError,
  fitEffort,
  isRecord,
  jsonBody,
  jsonItems,
  MediaFitter,
  type MediaLimits,
  Notices,
  objectSchema,
  outputInstruction,
  systemTexts,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { MessageReader } from "./answer.js";
import { cacheControl, withCachePoints, withMark } from "./cache.js";
import { MessageWriter } from "./messages.js";
import type { AnthropicSettings } from "./options.js";
import { outputSchema } from "./outputSchema.js";

/** The documented limits: 5 MiB for an image, counted as base64 text, and 32 MB for a request. */
const MEDIA: MediaLimits = {
  imageBytes: (5 * 1024 * 1024 * 3) / 4,
  fileBytes: 20 * 1024 * 1024,
  imageSide: 8000,
  crowded: { images: 20, imageSide: 2000 },
  images: 100,
  totalBytes: 22 * 1024 * 1024,
};

/** Tokens for thinking, for models that take a number and no effort. */
const THINKING_TOKENS: Readonly<Record<Exclude<Effort, "off">, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  xhigh: 26_624,
  max: 30_720,
};
const LEAST_THINKING_TOKENS = 1024;

/** Anthropic's Messages API. */
export class MessagesWire implements Wire {
  readonly #settings: AnthropicSettings;
  readonly #notices = new Notices();
  readonly media = new MediaFitter(MEDIA, this.#notices);
  readonly #tools = new ToolAdapter("Anthropic", objectSchema, this.#notices);
  readonly #messages: MessageWriter;
  readonly #cacheMark: string | undefined;
  // Changed after a server or a model refused the field.
  #maxTokens: number;
  #takesFormat = true;
  #takesEffort = true;

  constructor(settings: AnthropicSettings) {
    this.#settings = settings;
    this.#messages = new MessageWriter(settings.model);
    this.#cacheMark = cacheControl(settings.cache);
    this.#maxTokens = settings.maxTokens;
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given } = this.#settings;
    const { output, messages } = request;
    const isNative = output !== undefined && this.#takesFormat;
    const system = systemTexts(messages).filter((text) => text.trim() !== "");
    if (output && !isNative) system.push(outputInstruction(output));
    const { thinking, effort } = this.#reasoning(request);
    const fields = {
      max_tokens: this.#maxTokens,
      ...given,
      model,
      stream,
      ...(thinking && { thinking }),
      ...(request.tools.length > 0 && this.#choice(request, thinking !== undefined)),
      ...((isNative || effort !== undefined) && {
        output_config: {
          ...(isRecord(given.output_config) && given.output_config),
          ...(effort !== undefined && { effort }),
          ...(isNative && { format: { type: "json_schema", schema: outputSchema(output.schema) } }),
        },
      }),
    };
    const mark = this.#cacheMark;
    const tools = this.#tools.texts(request, wireTool).join(",");
    const words = jsonItems(system.map((text) => ({ type: "text", text })));
    const turns = this.#messages.turns(messages);
    // The server's cache works on prefixes: stable fields first, the growing conversation last.
    const body = jsonBody(fields, {
      ...(tools !== "" && { tools: `[${words === "" ? withMark(tools, mark) : tools}]` }),
      ...(words !== "" && { system: `[${withMark(words, mark)}]` }),
      messages: withCachePoints(turns, mark).toJson("content"),
    });
    return { path: "/v1/messages", body };
  }

  /** The server refuses to force a call while the model thinks. */
  #choice(request: ChatRequest, thinks: boolean): object {
    const { toolChoice: choice } = request;
    if (choice === undefined) return {};
    if (choice === "auto" || choice === "none") return { tool_choice: { type: choice } };
    if (thinks) {
      this.#notices.say(
        request,
        "Anthropic does not force a tool call while the model thinks: the model decides.",
      );
      return {};
    }
    return { tool_choice: choice === "required" ? { type: "any" } : { type: "tool", name: choice.tool } };
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
    if (this.#takesEffort && request.effort !== undefined && /thinking|effort/i.test(message)) {
      this.#takesEffort = false;
      this.#notices.say(request, `${this.#settings.model} refuses a reasoning effort; it answers without.`);
      return true;
    }
    const refusesFormat = /output_config|output_format|structured output/i.test(message);
    if (!request.output || !this.#takesFormat || !refusesFormat) return false;
    this.#takesFormat = false;
    return true;
  }

  /** Newer models take an effort and decide how long they think; earlier ones take a number of tokens. */
  #reasoning(request: ChatRequest): { readonly thinking?: object; readonly effort?: Effort } {
    const { model, facts } = this.#settings;
    const { efforts } = facts;
    const effort = this.#takesEffort ? fitEffort(request, model, efforts, this.#notices) : undefined;
    if (effort === undefined) return {};
    if (effort === "off") return { thinking: { type: "disabled" } };
    if (efforts === undefined || efforts.includes("max")) return { thinking: { type: "adaptive" }, effort };
    // Thinking is part of the answer, which needs room of its own.
    const most = Math.max(LEAST_THINKING_TOKENS, this.#maxTokens - LEAST_THINKING_TOKENS);
    return { thinking: { type: "enabled", budget_tokens: Math.min(THINKING_TOKENS[effort], most) } };
  }
}

function wireTool({ name, description, parameters, strict }: AdaptedTool): object {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters,
    ...(strict && { strict }),
  };
}
