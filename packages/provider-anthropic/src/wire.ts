import type {
  ChatMessage,
  ChatRequest,
  ChatToolCall,
  Content,
  ContentPart,
  Effort,
  JsonSchema,
} from "@agent/core";
import {
  type AdaptedTool,
  type AnswerPiece,
  type AnswerReader,
  type AttemptError,
  answerPieces,
  callArguments,
  contentParts,
  fitCallId,
  fitEffort,
  isRecord,
  JsonTexts,
  jsonBody,
  jsonItems,
  MediaFitter,
  type MediaLimits,
  mapSchemas,
  Notices,
  objectSchema,
  outputInstruction,
  pickKeywords,
  systemTexts,
  ToolAdapter,
  TurnList,
  type Wire,
} from "@agent/core/provider";
import { MessageReader } from "./answer.js";
import type { AnthropicSettings, CacheLifetime } from "./options.js";

/** The documented limits: 5 MiB for an image, counted as base64 text, and 32 MB for a request. */
const MEDIA: MediaLimits = {
  imageBytes: (5 * 1024 * 1024 * 3) / 4,
  fileBytes: 20 * 1024 * 1024,
  imageSide: 8000,
  crowded: { images: 20, imageSide: 2000 },
  images: 100,
  totalBytes: 22 * 1024 * 1024,
};

/** Tokens for thinking, for models that take a number instead of an effort. */
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
    // Thinking is part of the answer, which needs additional tokens.
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

// The server refuses a message without any text.
const NO_TEXT = "(no text)";
const THINKING: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

type Fields = Readonly<Record<string, unknown>>;
type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type UserMessage = Extract<ChatMessage, { role: "user" }>;
type ToolMessage = Extract<ChatMessage, { role: "tool" }>;

/** Writes conversations as Messages. A message has the same bytes in every request, so that prompt caches hit. */
class MessageWriter {
  readonly #model: string;
  readonly #texts = new JsonTexts<ChatMessage>();

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * Follows the server's rules: turns alternate, the results of an answer's calls are together at the beginning of the
   * next turn, and no text is empty.
   */
  turns(messages: readonly ChatMessage[]): TurnList<"user" | "assistant"> {
    const list = new TurnList<"user" | "assistant">();
    const ids = new CallIds();
    for (const message of messages) {
      switch (message.role) {
        case "user":
          list.add("user", this.#texts.get(message) ?? this.#texts.keep(message, userText(message)));
          break;
        case "tool": {
          const id = ids.of(message.tool_call_id);
          list.add(
            "user",
            this.#texts.get(message, id) ?? this.#texts.keep(message, resultText(message, id), id),
          );
          break;
        }
        case "assistant": {
          // The server wants the first turn to be the user's.
          if (list.turns.length === 0) list.add("user", jsonItems(atLeastText([])));
          const key = ids.addAnswer(message.tool_calls ?? []);
          list.add(
            "assistant",
            this.#texts.get(message, key) ?? this.#texts.keep(message, this.#answerText(message, ids), key),
          );
          break;
        }
      }
    }
    return list;
  }

  #answerText(message: AssistantMessage, ids: CallIds): string {
    const blocks = answerPieces(message, this.#model).flatMap((piece) => answerBlock(piece, ids));
    return jsonItems(atLeastText(withoutLastThoughts(blocks)));
  }
}

function userText({ content }: UserMessage): string {
  return jsonItems(atLeastText(blocksOf(content)));
}

function resultText({ content }: ToolMessage, id: string): string {
  return JSON.stringify({
    type: "tool_result",
    tool_use_id: id,
    content: typeof content === "string" ? content : blocksOf(content),
  });
}

function blocksOf(content: Content): object[] {
  return contentParts(content).flatMap(partBlock);
}

function atLeastText(blocks: object[]): object[] {
  return blocks.length > 0 ? blocks : [{ type: "text", text: NO_TEXT }];
}

/**
 * The blocks up to the last one that is not thinking. The server refuses an answer that ends in thinking, which happens
 * if it reached its length limit before the model wrote anything.
 */
function withoutLastThoughts(blocks: readonly Fields[]): object[] {
  return blocks.slice(0, blocks.findLastIndex(({ type }) => !THINKING.has(type)) + 1);
}

function partBlock(part: ContentPart): object[] {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    case "image":
      return [{ type: "image", source: base64Source(part) }];
    case "file":
      return [
        {
          type: "document",
          source: base64Source(part),
          ...(part.name !== undefined && { title: part.name }),
        },
      ];
  }
}

function base64Source({ mediaType, data }: { readonly mediaType: string; readonly data: string }): object {
  return { type: "base64", media_type: mediaType, data };
}

function answerBlock(piece: AnswerPiece, ids: CallIds): Fields[] {
  switch (piece.type) {
    case "own":
      return isRecord(piece.value) ? [piece.value] : [];
    case "text":
      return piece.text.trim() === "" ? [] : [{ type: "text", text: piece.text }];
    case "call": {
      const { id, function: called } = piece.call;
      return [
        {
          type: "tool_use",
          id: ids.of(id),
          name: called.name,
          input: callArguments(piece.call),
        },
      ];
    }
  }
}

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The ids of a conversation's calls in the form that the server accepts: only certain characters, each id only once.
 * Calls of other providers have other characters, or the same ids in each answer.
 */
class CallIds {
  readonly #used = new Set<string>();
  // The ids of the last answer that had to be changed; nearly always empty.
  #changed = new Map<string, string>();

  /** Starts the ids of this answer and its results. Returns a cache key: the same text for the same ids. */
  addAnswer(calls: readonly ChatToolCall[]): string {
    if (this.#changed.size > 0) this.#changed = new Map();
    for (const { id } of calls) this.#add(id);
    return [...this.#changed.values()].join(" ");
  }

  /** The id of a call of the last answer. */
  of(id: string): string {
    return this.#changed.get(id) ?? fitCallId(id, FITTING);
  }

  #add(id: string): void {
    let fitting = fitCallId(id, FITTING);
    for (let count = 2; this.#used.has(fitting); count++) fitting = fitCallId(`${id}_${count}`, FITTING);
    this.#used.add(fitting);
    if (fitting !== id) this.#changed.set(id, fitting);
  }
}

/** The cache breakpoint as JSON text: the server caches everything up to it. */
function cacheControl(lifetime: CacheLifetime): string | undefined {
  if (lifetime === false) return undefined;
  return JSON.stringify({ type: "ephemeral", ...(lifetime !== "5m" && { ttl: lifetime }) });
}

/** JSON objects, separated by commas, with a cache breakpoint in the last one. */
function withMark(objects: string, mark: string | undefined): string {
  return mark === undefined ? objects : `${objects.slice(0, -1)},"cache_control":${mark}}`;
}

/**
 * Sets cache breakpoints on the last two messages of the user. The newest one writes the cache for the next request. The
 * one before it is where the last request wrote: the server searches only 20 blocks back for it by itself.
 */
function withCachePoints<Role extends string>(
  list: TurnList<Role>,
  mark: string | undefined,
): TurnList<Role> {
  const users = list.turns.filter(({ role }) => role === "user");
  for (const turn of users.slice(-2)) turn.text = withMark(turn.text, mark);
  return list;
}

/** The keywords that the server enforces in a structured answer. It refuses others; the agent validates them all. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "$defs",
  "$ref",
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "description",
  "enum",
  "format",
  "items",
  "properties",
  "required",
  "title",
  "type",
]);
const FORMATS = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/;

/** A schema that the server accepts for structured answers: objects are closed, keywords it cannot enforce are removed. */
function outputSchema(schema: JsonSchema): JsonSchema {
  return closeObjects(pickKeywords(withAnyOf(schema), KEYWORDS).schema) as JsonSchema;
}

/** Replaces `oneOf`, which the server refuses, with `anyOf`. */
function withAnyOf(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, ({ oneOf, ...rest }) =>
    oneOf === undefined || rest.anyOf !== undefined ? rest : { ...rest, anyOf: oneOf },
  ) as JsonSchema;
}

function closeObjects(schema: unknown): unknown {
  return mapSchemas(schema, (one) => {
    const { format, ...rest } = one;
    const known = typeof format === "string" && FORMATS.test(format) ? { ...rest, format } : rest;
    return known.type === "object" || isRecord(known.properties)
      ? { ...known, additionalProperties: false }
      : known;
  });
}
