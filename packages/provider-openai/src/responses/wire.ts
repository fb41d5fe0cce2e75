import type {
  ChatMessage,
  ChatRequest,
  ChatToolCall,
  Content,
  ContentPart,
  FreeformInput,
} from "@agent/core";
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
const REFUSED_FREEFORM = /^4(00|22) .*(custom[ _]tool|'?custom'?|grammar|lark|tools\[\d+\])/is;
const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** The Responses API. The server stores nothing: reasoning is encrypted and sent back with the conversation. */
export class ResponsesWire implements Wire {
  readonly #settings: OpenAISettings;
  #tools: ToolAdapter;
  #items: InputItems;
  readonly #notices = new Notices();
  readonly media: MediaFitter;
  // Each flag is cleared when the server refuses the field: a model without reasoning, a format it does not take.
  #asksForReasoning = true;
  #takesFormat = true;
  #takesEffort = true;
  #takesFreeform = true;

  constructor(settings: OpenAISettings) {
    this.#settings = settings;
    this.#items = new InputItems(settings.model);
    this.media = mediaFitter(settings, this.#notices);
    this.#tools = this.#createAdapter();
  }

  #createAdapter(): ToolAdapter {
    return new ToolAdapter("OpenAI", objectSchema, this.#notices);
  }

  accepts(mediaType: string): boolean {
    return acceptsMedia(this.#settings, mediaType);
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given, facts } = this.#settings;
    const { messages, output } = request;
    const freeform = this.#freeform(request);
    this.#items.addFreeform(freeform);
    const tools = this.#tools.texts(request, (tool) => wireTool(tool, freeform[tool.name])).join(",");
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
        tool_choice:
          typeof choice === "string"
            ? choice
            : { type: freeform[choice.tool] ? "custom" : "function", name: choice.tool },
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
    return new ResponsesReader(this.#settings.model, request, this.#freeform(request));
  }

  #freeform({ freeform = {} }: ChatRequest): Freeform {
    return this.#takesFreeform ? freeform : {};
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
    if (this.#takesFreeform && request.freeform && REFUSED_FREEFORM.test(message)) {
      this.#takesFreeform = false;
      this.#tools = this.#createAdapter();
      this.#items = new InputItems(this.#settings.model);
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

type Freeform = NonNullable<ChatRequest["freeform"]>;

/** Sets `strict` on each tool explicitly: the default of the server is strict, which refuses most schemas. */
function wireTool(tool: AdaptedTool, freeform: FreeformInput | undefined): object {
  if (!freeform) return { type: "function", ...tool };
  const { name, description } = tool;
  const format = { type: "grammar", syntax: "lark", definition: freeform.lark };
  return { type: "custom", name, description, format };
}

const CALL_ID = /^.{1,64}$/s;

/** Writes conversations as input items. A message has the same bytes in every request, so that prompt caches hit. */
class InputItems {
  readonly #model: string;
  readonly #texts = new JsonTexts<ChatMessage>();
  /** The argument of each tool that is called with plain text. It only grows, so that earlier messages stay the same. */
  readonly #freeform = new Map<string, string>();

  constructor(model: string) {
    this.#model = model;
  }

  addFreeform(freeform: Freeform): void {
    for (const [name, { argument }] of Object.entries(freeform)) this.#freeform.set(name, argument);
  }

  toJson(messages: readonly ChatMessage[]): string {
    // Results follow the answer with their calls.
    let custom: ReadonlyMap<string, string> = new Map();
    const texts = messages.map((message) => {
      if (message.role === "assistant") custom = this.#customCalls(message.tool_calls ?? []);
      return (
        this.#texts.get(message) ??
        this.#texts.keep(message, jsonItems(messageItems(message, this.#model, custom)))
      );
    });
    return `[${texts.filter((text) => text !== "").join(",")}]`;
  }

  /** The texts of calls whose arguments are only the text of a free-form tool, by call id. */
  #customCalls(calls: readonly ChatToolCall[]): ReadonlyMap<string, string> {
    if (this.#freeform.size === 0) return new Map();
    return new Map(
      calls.flatMap(({ id, function: { name, arguments: text } }) => {
        const argument = this.#freeform.get(name);
        const input = argument === undefined ? undefined : onlyText(text, argument);
        return input === undefined ? [] : [[id, input] as const];
      }),
    );
  }
}

function onlyText(json: string, argument: string): string | undefined {
  try {
    const args: unknown = JSON.parse(json);
    if (!isRecord(args) || Object.keys(args).length !== 1) return undefined;
    const value = args[argument];
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `custom`: the plain text of the calls that were made with one, by their ids. */
function messageItems(message: ChatMessage, model: string, custom: ReadonlyMap<string, string>): object[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", content: inputContent(message.content) }];
    case "tool": {
      const output = inputContent(message.content);
      const { tool_call_id: id } = message;
      const type = custom.has(id) ? "custom_tool_call_output" : "function_call_output";
      return [{ type, call_id: fitCallId(id, CALL_ID), output }];
    }
    case "assistant":
      return answered(answerPieces(message, model)).flatMap((piece) => answerItem(piece, custom));
  }
}

/**
 * The pieces up to the last text or call. The server refuses trailing reasoning, as in an answer that reached its
 * length limit before the model wrote anything.
 */
function answered(pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
  return pieces.slice(0, pieces.findLastIndex(({ type }) => type !== "own") + 1);
}

function answerItem(piece: AnswerPiece, custom: ReadonlyMap<string, string>): object[] {
  switch (piece.type) {
    case "own":
      return isRecord(piece.value) ? [piece.value] : [];
    case "text": {
      const phase = isRecord(piece.with) ? piece.with.phase : undefined;
      return [{ role: "assistant", content: piece.text, ...(typeof phase === "string" && { phase }) }];
    }
    case "call": {
      const { id, function: called } = piece.call;
      const call_id = fitCallId(id, CALL_ID);
      const input = custom.get(id);
      if (input !== undefined) return [{ type: "custom_tool_call", call_id, name: called.name, input }];
      return [{ type: "function_call", call_id, ...called }];
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
