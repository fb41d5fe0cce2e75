import type { ChatMessage, ChatRequest, Content, ContentPart } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerPiece,
  type AnswerReader,
  type AttemptError,
  answerPieces,
  fitCallId,
  fitEffort,
  isRecord,
  JsonTexts,
  jsonBody,
  jsonItems,
  type MediaFitter,
  Notices,
  objectSchema,
  outputInstruction,
  systemTexts,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { dataUrl } from "../chat/messages.js";
import { acceptsMedia, mediaFitter } from "../media.js";
import type { OpenAISettings } from "../options.js";
import { jsonSchemaFormat } from "../outputFormat.js";
import { ResponsesReader } from "./answer.js";

const REFUSED_FORMAT = /^4(00|22) .*(response_format|text\.format|json_schema|structured output)/is;
const REFUSED_EFFORT = /^4(00|22) .*reasoning(\.|_| )?effort/is;
const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** The Responses API. The server stores nothing: reasoning comes encrypted and goes back with the conversation. */
export class ResponsesWire implements Wire {
  readonly #settings: OpenAISettings;
  readonly #tools: ToolAdapter;
  readonly #items: InputItems;
  readonly #notices = new Notices();
  readonly media: MediaFitter;
  // Each flag is cleared when the server refuses the field: a model without reasoning, a format it does not take.
  #asksForReasoning = true;
  #takesFormat = true;
  #takesEffort = true;

  constructor(settings: OpenAISettings) {
    this.#settings = settings;
    this.#items = new InputItems(settings.model);
    this.media = mediaFitter(settings, this.#notices);
    this.#tools = new ToolAdapter("OpenAI", objectSchema, this.#notices);
  }

  accepts(mediaType: string): boolean {
    return acceptsMedia(this.#settings, mediaType);
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given, facts } = this.#settings;
    const { messages, output } = request;
    const tools = this.#tools.texts(request, wireTool).join(",");
    const instructions = systemTexts(messages);
    const isNative = output !== undefined && this.#takesFormat;
    if (output && !isNative) instructions.push(outputInstruction(output));
    const include = this.#include();
    const effort = this.#takesEffort ? fitEffort(request, model, facts?.efforts, this.#notices) : undefined;
    const choice = tools === "" ? undefined : request.toolChoice;
    const fields = {
      store: false,
      ...given,
      ...(choice !== undefined && {
        tool_choice: typeof choice === "string" ? choice : { type: "function", name: choice.tool },
      }),
      model,
      stream,
      ...(effort !== undefined && {
        reasoning: {
          ...(isRecord(given.reasoning) && given.reasoning),
          effort: effort === "off" ? "none" : effort,
        },
      }),
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

  learn({ message }: AttemptError, request: ChatRequest): boolean {
    const { output } = request;
    if (this.#takesEffort && request.effort !== undefined && REFUSED_EFFORT.test(message)) {
      this.#takesEffort = false;
      this.#notices.say(request, `${this.#settings.model} refuses a reasoning effort; it answers without.`);
      return true;
    }
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

const CALL_ID = /^.{1,64}$/s;

/** Writes conversations as input items. A message has the same bytes in every request, so that prompt caches hit. */
class InputItems {
  readonly #model: string;
  readonly #texts = new JsonTexts<ChatMessage>();

  constructor(model: string) {
    this.#model = model;
  }

  toJson(messages: readonly ChatMessage[]): string {
    const texts = messages.map(
      (message) =>
        this.#texts.get(message) ?? this.#texts.keep(message, jsonItems(messageItems(message, this.#model))),
    );
    return `[${texts.filter((text) => text !== "").join(",")}]`;
  }
}

function messageItems(message: ChatMessage, model: string): object[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", content: inputContent(message.content) }];
    case "tool": {
      const output = inputContent(message.content);
      return [{ type: "function_call_output", call_id: fitCallId(message.tool_call_id, CALL_ID), output }];
    }
    case "assistant":
      return answered(answerPieces(message, model)).flatMap(answerItem);
  }
}

/**
 * The pieces up to the last text or call. The server refuses reasoning that nothing follows, as in an answer that reached
 * its length limit before the model wrote anything.
 */
function answered(pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
  return pieces.slice(0, pieces.findLastIndex(({ type }) => type !== "own") + 1);
}

function answerItem(piece: AnswerPiece): object[] {
  switch (piece.type) {
    case "own":
      return isRecord(piece.value) ? [piece.value] : [];
    case "text": {
      const phase = isRecord(piece.with) ? piece.with.phase : undefined;
      return [{ role: "assistant", content: piece.text, ...(typeof phase === "string" && { phase }) }];
    }
    case "call": {
      const { id, function: called } = piece.call;
      return [{ type: "function_call", call_id: fitCallId(id, CALL_ID), ...called }];
    }
  }
}

function inputContent(content: Content): string | object[] {
  return typeof content === "string" ? content : content.map(inputPart);
}

function inputPart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
    case "file":
      return { type: "input_file", filename: part.name ?? "file", file_data: dataUrl(part) };
  }
}
