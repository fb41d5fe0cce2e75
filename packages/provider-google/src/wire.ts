import type { ChatMessage, ChatRequest, ContentPart, Effort, JsonSchema, ToolChoice } from "@agent/core";
import {
  type AdaptedSchema,
  type AdaptedTool,
  type AnswerPiece,
  type AnswerReader,
  type AttemptError,
  answerPieces,
  callArguments,
  contentParts,
  contentText,
  fitEffort,
  isRecord,
  type JsonText,
  JsonTexts,
  jsonBody,
  jsonItems,
  MediaFitter,
  type MediaLimits,
  mapSchemas,
  Notices,
  outputInstruction,
  pickKeywords,
  systemTexts,
  ToolAdapter,
  TurnList,
  type Wire,
} from "@agent/core/provider";
import { ContentReader } from "./answer.js";
import { FunctionNames } from "./functionNames.js";
import type { GoogleSettings } from "./options.js";

// Models that sign their calls (Gemini 3 and later). They also accept a response schema together with tools.
const SIGNED = /^gemini-([3-9]|\d\d)|-latest$/;

/** The documented limit: 20 MB for a request; base64 makes a file a third larger. */
const MEDIA: MediaLimits = {
  imageTypes: /^image\/(png|jpeg|webp)$/,
  imageBytes: 14 * 1024 * 1024,
  fileBytes: 14 * 1024 * 1024,
  images: 3600,
  totalBytes: 14 * 1024 * 1024,
};

/** Tokens for thinking, for models before Gemini 3, which take a number instead of a level. */
const THINKING_TOKENS: Readonly<Record<Effort, number>> = {
  off: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** Google's generateContent API. */
export class GenerateContentWire implements Wire {
  readonly #settings: GoogleSettings;
  readonly #notices = new Notices();
  readonly media = new MediaFitter(MEDIA, this.#notices);
  readonly #tools = new ToolAdapter("Google", googleSchema, this.#notices);
  readonly #isSigned: boolean;
  // Cleared when the model refuses the field.
  #takesEffort = true;
  readonly #contents: ContentWriter;

  constructor(settings: GoogleSettings) {
    this.#settings = settings;
    this.#isSigned = SIGNED.test(settings.model);
    this.#contents = new ContentWriter(settings.model, this.#isSigned);
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given } = this.#settings;
    const { messages, output } = request;
    const names = this.#namesOf(request);
    const isNative = output !== undefined && (this.#isSigned || request.tools.length === 0);
    const system = systemTexts(messages);
    if (output && !isNative) system.push(outputInstruction(output));
    const tools = this.#tools.texts(request, declaration, (name) => names.toWire(name)).join(",");
    const thinking = this.#thinking(request);
    const config = isRecord(given.generationConfig) ? given.generationConfig : {};
    const fields = {
      ...given,
      ...(tools !== "" && choiceFields(request.toolChoice, (name) => names.toWire(name))),
      ...((isNative || thinking) && {
        generationConfig: {
          ...config,
          ...(thinking && {
            thinkingConfig: { ...(isRecord(config.thinkingConfig) && config.thinkingConfig), ...thinking },
          }),
          ...(isNative && {
            responseMimeType: "application/json",
            responseJsonSchema: googleSchema(output.schema).schema,
          }),
        },
      }),
      ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    };
    // The conversation comes last and only grows, so each request begins with the bytes of the one before.
    const body = jsonBody(fields, {
      ...(tools !== "" && { tools: `[{"functionDeclarations":[${tools}]}]` }),
      contents: this.#contents.turns(messages, names).toJson("parts"),
    });
    const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
    return { path: `/v1beta/models/${encodeURIComponent(model)}:${method}`, body };
  }

  reader(request: ChatRequest): AnswerReader {
    return new ContentReader(this.#settings.model, request, new FunctionNames(request.tools));
  }

  learn({ message }: AttemptError, request: ChatRequest): boolean {
    if (!this.#takesEffort || request.effort === undefined || !/^400 .*thinking/is.test(message))
      return false;
    this.#takesEffort = false;
    this.#notices.say(request, `${this.#settings.model} refuses a reasoning effort; it answers without.`);
    return true;
  }

  #thinking(request: ChatRequest): object | undefined {
    const { model, facts } = this.#settings;
    const { efforts } = facts;
    const effort = this.#takesEffort ? fitEffort(request, model, efforts, this.#notices) : undefined;
    if (effort === undefined) return undefined;
    return this.#isSigned ? { thinkingLevel: effort } : { thinkingBudget: THINKING_TOKENS[effort] };
  }

  #namesOf(request: ChatRequest): FunctionNames {
    const names = new FunctionNames(request.tools);
    for (const [name, fitting] of names.changed) {
      this.#notices.say(
        request,
        `Google accepts no tool name that begins with a digit or a dash: ${name} is called ${fitting} there.`,
      );
    }
    return names;
  }
}

function declaration({ name, description, parameters }: AdaptedTool): object {
  return { name, ...(description !== undefined && { description }), parametersJsonSchema: parameters };
}

const MODES = { auto: "AUTO", none: "NONE", required: "ANY" };

function choiceFields(choice: ToolChoice | undefined, toWire: (name: string) => string): object {
  if (choice === undefined) return {};
  const config =
    typeof choice === "string"
      ? { mode: MODES[choice] }
      : { mode: "ANY", allowedFunctionNames: [toWire(choice.tool)] };
  return { toolConfig: { functionCallingConfig: config } };
}

// The server refuses a turn without a part.
const NO_TEXT = "(no text)";
// The signature that Google documents for a call of another model: Gemini 3 refuses a call without one.
const NO_SIGNATURE = "skip_thought_signature_validator";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

type UserMessage = Extract<ChatMessage, { role: "user" }>;

/** A call of an answer, kept until its result is written. */
interface KnownCall {
  /** The call as its result must name it: the function's name, and the server's id if it gave one. */
  readonly called: { readonly name: string; readonly id?: string };
  /** A cache key: calls with the same key are named the same way. */
  readonly key: string;
}

const UNKNOWN_CALL: KnownCall = { called: { name: "unknown" }, key: "unknown" };

interface WrittenAnswer extends JsonText {
  readonly calls: readonly (readonly [callId: string, call: KnownCall])[];
}

/** Writes conversations as contents. A message has the same bytes in every request, so that prompt caches hit. */
class ContentWriter {
  readonly #model: string;
  readonly #isSigned: boolean;
  readonly #texts = new JsonTexts<ChatMessage>();
  readonly #answers = new JsonTexts<AssistantMessage, WrittenAnswer>();

  /** `isSigned`: Gemini 3 and later, where an answer's first call needs a signature and results may hold images. */
  constructor(model: string, isSigned: boolean) {
    this.#model = model;
    this.#isSigned = isSigned;
  }

  /** Follows the server's rules: turns alternate, and the results of an answer's calls are together in the next turn. */
  turns(messages: readonly ChatMessage[], names: FunctionNames): TurnList<"user" | "model"> {
    const list = new TurnList<"user" | "model">();
    const calls = new Map<string, KnownCall>();
    const { key } = names;
    for (const message of messages) {
      switch (message.role) {
        case "user":
          list.add("user", this.#texts.get(message) ?? this.#texts.keep(message, userText(message)));
          break;
        case "tool": {
          const call = calls.get(message.tool_call_id) ?? UNKNOWN_CALL;
          list.add(
            "user",
            this.#texts.get(message, call.key) ??
              this.#texts.keep(message, this.#resultText(contentParts(message.content), call), call.key),
          );
          break;
        }
        case "assistant": {
          // The server wants the first turn to be the user's.
          if (list.turns.length === 0) list.add("user", jsonItems(atLeastText([])));
          const answer =
            this.#answers.get(message, key) ?? this.#answers.keep(message, this.#answer(message, names), key);
          for (const [id, call] of answer.calls) calls.set(id, call);
          list.add("model", answer.text);
          break;
        }
      }
    }
    return list;
  }

  #resultText(parts: readonly ContentPart[], { called }: KnownCall): string {
    const text = contentText(parts.filter((part) => part.type === "text"));
    const shown = parts.filter((part) => part.type !== "text").flatMap(wirePart);
    const nested = this.#isSigned && shown.length > 0;
    return jsonItems([
      { functionResponse: { ...called, response: { output: text }, ...(nested && { parts: shown }) } },
      // Earlier models see images only as parts next to the result, not inside it.
      ...(nested ? [] : shown),
    ]);
  }

  #answer(message: AssistantMessage, names: FunctionNames): WrittenAnswer {
    const calls: [string, KnownCall][] = [];
    const parts = answerPieces(message, this.#model).flatMap((piece): object[] => {
      if (piece.type === "own") return isRecord(piece.value) ? [piece.value] : [];
      const { id, thoughtSignature } = companionOf(piece);
      if (piece.type === "text") {
        return piece.text === "" ? [] : [{ text: piece.text, ...(thoughtSignature && { thoughtSignature }) }];
      }
      const call = { ...(id && { id }), name: names.toWire(piece.call.function.name) };
      const signature = thoughtSignature ?? (this.#isSigned && calls.length === 0 ? NO_SIGNATURE : undefined);
      calls.push([piece.call.id, { called: call, key: `${call.name} ${id}` }]);
      return [
        {
          functionCall: { ...call, args: callArguments(piece.call) },
          ...(signature !== undefined && { thoughtSignature: signature }),
        },
      ];
    });
    return { text: jsonItems(atLeastText(parts)), calls };
  }
}

function userText({ content }: UserMessage): string {
  return jsonItems(atLeastText(contentParts(content).flatMap(wirePart)));
}

function atLeastText(parts: object[]): object[] {
  return parts.length > 0 ? parts : [{ text: NO_TEXT }];
}

function wirePart(part: ContentPart): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
  return [{ inlineData: { mimeType: part.mediaType, data: part.data } }];
}

/** The id and signature that the server sent with a text or a call. */
function companionOf(piece: AnswerPiece): { readonly id?: string; readonly thoughtSignature?: string } {
  if (piece.type === "own" || !isRecord(piece.with)) return {};
  const { id, thoughtSignature } = piece.with;
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}

/** The part of JSON Schema that the API documents, for parameters and structured answers alike. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "$anchor",
  "$defs",
  "$id",
  "$ref",
  "additionalProperties",
  "anyOf",
  "description",
  "enum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "oneOf",
  "prefixItems",
  "properties",
  "propertyOrdering",
  "required",
  "title",
  "type",
]);
// Annotations restrict nothing, so dropping them needs no notice.
const REMARKS: ReadonlySet<string> = new Set(["$schema", "$comment", "default", "examples", "deprecated"]);

/** A schema that the API accepts, and the keywords that were removed from it. */
function googleSchema(schema: JsonSchema | undefined): AdaptedSchema {
  const adapted = pickKeywords({ type: "object", properties: {}, ...schema }, KEYWORDS);
  const leftOut = new Set(adapted.leftOut.filter((keyword) => !REMARKS.has(keyword)));
  const { $ref: top, ...own } = adapted.schema;
  const fitting = mapSchemas(own, (one) => fitSchema(one, leftOut)) as JsonSchema;
  return { schema: { ...fitting, ...definition(fitting, top) }, leftOut: [...leftOut].sort() };
}

/** Inlines a reference at the top of a schema: there it has neighbours, such as the definitions themselves. */
function definition({ $defs: known }: JsonSchema, reference: unknown): JsonSchema {
  const name = typeof reference === "string" ? reference.replace("#/$defs/", "") : "";
  const found = isRecord(known) && Object.hasOwn(known, name) ? known[name] : undefined;
  return isRecord(found) ? found : {};
}

/** The API accepts nothing next to a reference, and only lists of strings and numbers. */
function fitSchema(schema: Record<string, unknown>, leftOut: Set<string>): Record<string, unknown> {
  const { enum: values, ...rest } = schema;
  if (schema.$ref !== undefined) {
    return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword.startsWith("$")));
  }
  if (!Array.isArray(values) || values.every(isListed)) return schema;
  leftOut.add("enum");
  return rest;
}

function isListed(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
