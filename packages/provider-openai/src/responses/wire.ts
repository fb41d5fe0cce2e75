import type { ChatRequest } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerReader,
  type AttemptError,
  isRecord,
  jsonBody,
  type MediaFitter,
  Notices,
  objectSchema,
  outputInstruction,
  systemTexts,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { acceptsMedia, mediaFitter } from "../media.js";
import type { OpenAISettings } from "../options.js";
import { jsonSchemaFormat } from "../outputFormat.js";
import { ResponsesReader } from "./answer.js";
import { InputItems } from "./items.js";

const REFUSED_FORMAT = /^4(00|22) .*(response_format|text\.format|json_schema|structured output)/is;
const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** The Responses API. The server stores nothing: reasoning comes encrypted and goes back with the conversation. */
export class ResponsesWire implements Wire {
  readonly #settings: OpenAISettings;
  readonly #tools: ToolAdapter;
  readonly #items: InputItems;
  readonly media: MediaFitter;
  // Each flag is cleared when the server refuses the field: a model without reasoning, a format it does not take.
  #asksForReasoning = true;
  #takesFormat = true;

  constructor(settings: OpenAISettings) {
    this.#settings = settings;
    this.#items = new InputItems(settings.model);
    const notices = new Notices();
    this.media = mediaFitter(settings, notices);
    this.#tools = new ToolAdapter("OpenAI", objectSchema, notices);
  }

  accepts(mediaType: string): boolean {
    return acceptsMedia(this.#settings, mediaType);
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given } = this.#settings;
    const { messages, output } = request;
    const tools = this.#tools.texts(request, wireTool).join(",");
    const instructions = systemTexts(messages);
    const isNative = output !== undefined && this.#takesFormat;
    if (output && !isNative) instructions.push(outputInstruction(output));
    const include = this.#include();
    const fields = {
      store: false,
      ...given,
      model,
      stream,
      ...(include.length > 0 && { include }),
      ...(isNative && {
        text: {
          ...(isRecord(given.text) && given.text),
          format: { type: "json_schema", ...jsonSchemaFormat(output) },
        },
      }),
      ...(instructions.length > 0 && { instructions: instructions.join("\n\n") }),
    };
    // The conversation comes last and only grows, so each request begins with the bytes of the one before.
    const body = jsonBody(fields, {
      ...(tools !== "" && { tools: `[${tools}]` }),
      input: this.#items.toJson(messages),
    });
    return { path: "/responses", body };
  }

  reader(request: ChatRequest): AnswerReader {
    return new ResponsesReader(this.#settings.model, request);
  }

  learn({ message }: AttemptError, { output }: ChatRequest): boolean {
    if (this.#asksForReasoning && /^400 .*(encrypted content|include)/is.test(message)) {
      this.#asksForReasoning = false;
      return true;
    }
    if (!output || !this.#takesFormat || !REFUSED_FORMAT.test(message)) return false;
    this.#takesFormat = false;
    return true;
  }

  #include(): readonly unknown[] {
    const { include } = this.#settings.body;
    const own = Array.isArray(include) ? include : [];
    if (!this.#asksForReasoning || own.includes(ENCRYPTED_REASONING)) return own;
    return [...own, ENCRYPTED_REASONING];
  }
}

/** Sets `strict` on each tool explicitly: the default of the server is strict, which refuses most schemas. */
function wireTool(tool: AdaptedTool): object {
  return { type: "function", ...tool };
}
