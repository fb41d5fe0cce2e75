import type { ChatMessage, ChatRequest } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerReader,
  type AttemptError,
  adaptContent,
  fitCallId,
  fitEffort,
  jsonBody,
  type MediaFitter,
  Notices,
  objectSchema,
  outputInstruction,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { acceptsMedia, mediaFitter } from "../media.js";
import type { OpenAISettings } from "../options.js";
import { jsonSchemaFormat } from "../outputFormat.js";
import { CompletionReader } from "./completion.js";
import { holdsParts, MessageWriter } from "./messages.js";

const REFUSED = /^4(00|04|15|22) /;
// Gemini 3 refuses a call without a signature. This value marks a call that another model wrote.
const NO_SIGNATURE = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } };

/** Servers that accept only ids of a certain form. All other servers get an id back unchanged. */
const ID_RULES: readonly { host: RegExp; fits: RegExp; length: number }[] = [
  { host: /(^|\.)(api\.openai\.com|openai\.azure\.com)$/, fits: /^.{1,40}$/s, length: 24 },
  { host: /(^|\.)mistral\.ai$/, fits: /^[a-zA-Z0-9]{9}$/, length: 9 },
];

/** The chat completions API, as implemented by OpenAI and many other servers. */
export class ChatWire implements Wire {
  readonly #settings: OpenAISettings;
  readonly #messages: MessageWriter;
  readonly #notices = new Notices();
  readonly #tools: ToolAdapter;
  readonly media: MediaFitter;
  // Each flag is cleared when the server refuses the field.
  #asksForUsage = true;
  #takesParts = true;
  #takesFormat = true;
  #takesEffort = true;

  constructor(settings: OpenAISettings) {
    this.#settings = settings;
    const { hostname } = new URL(settings.baseURL);
    const idRule = ID_RULES.find(({ host }) => host.test(hostname));
    this.#messages = new MessageWriter({
      model: settings.model,
      fitId: (id) => (idRule ? fitCallId(id, idRule.fits, idRule.length) : id),
      foreignCall: /(^|\.)googleapis\.com$/.test(hostname) ? NO_SIGNATURE : undefined,
    });
    this.media = mediaFitter(settings, this.#notices);
    this.#tools = new ToolAdapter(hostname, objectSchema, this.#notices);
  }

  accepts(mediaType: string): boolean {
    return this.#takesParts && acceptsMedia(this.#settings, mediaType);
  }

  request(request: ChatRequest, stream: boolean) {
    const { output } = request;
    const { model, facts } = this.#settings;
    const effort = this.#takesEffort ? fitEffort(request, model, facts?.efforts, this.#notices) : undefined;
    const tools = this.#tools.texts(request, wireTool).join(",");
    const choice = tools === "" ? undefined : request.toolChoice;
    const fields = {
      ...this.#settings.body,
      ...(choice !== undefined && {
        tool_choice:
          typeof choice === "string" ? choice : { type: "function", function: { name: choice.tool } },
      }),
      model: this.#settings.model,
      stream,
      ...(effort !== undefined && { reasoning_effort: effort === "off" ? "none" : effort }),
      ...(stream && this.#asksForUsage && { stream_options: { include_usage: true } }),
      ...(output &&
        this.#takesFormat && {
          response_format: { type: "json_schema", json_schema: jsonSchemaFormat(output) },
        }),
    };
    // The conversation comes last and only grows, so each request begins with the bytes of the one before.
    const body = jsonBody(fields, {
      // An empty list of tools is an error for several servers.
      ...(tools !== "" && { tools: `[${tools}]` }),
      messages: this.#messages.toJson(this.#messagesOf(request)),
    });
    return { path: "/chat/completions", body };
  }

  reader(request: ChatRequest): AnswerReader {
    return new CompletionReader(this.#settings.model, request);
  }

  learn({ message }: AttemptError, request: ChatRequest): boolean {
    if (!REFUSED.test(message)) return false;
    if (this.#asksForUsage && /stream_options/.test(message)) {
      this.#asksForUsage = false;
      return true;
    }
    if (
      this.#takesFormat &&
      request.output &&
      /response_format|json_schema|structured output/i.test(message)
    ) {
      this.#takesFormat = false;
      return true;
    }
    if (this.#takesEffort && request.effort !== undefined && /reasoning/i.test(message)) {
      this.#takesEffort = false;
      this.#notices.say(request, `${this.#settings.model} refuses a reasoning effort; it answers without.`);
      return true;
    }
    const refusesParts = /image|vision|multi-?modal|content (type|part)|`text`|'text'/i.test(message);
    if (this.#takesParts && refusesParts && holdsParts(request.messages)) {
      this.#takesParts = false;
      this.#notices.say(
        request,
        `${this.#settings.model} refuses images and files; it gets their descriptions instead.`,
      );
      return true;
    }
    return false;
  }

  #messagesOf({ messages, output }: ChatRequest): readonly ChatMessage[] {
    const shown = this.#takesParts ? messages : messages.map(withoutMedia);
    if (!output || this.#takesFormat) return shown;
    // In the system prompt: at the end it would follow another user message, which some servers refuse, and it would
    // move with each turn, so that prompt caches would not hit.
    const [first, ...others] = shown;
    const instruction = outputInstruction(output);
    if (first?.role !== "system") return [{ role: "system", content: instruction }, ...shown];
    return [{ role: "system", content: `${first.content}\n\n${instruction}` }, ...others];
  }
}

function wireTool({ strict, ...called }: AdaptedTool): object {
  return { type: "function", function: { ...called, ...(strict && { strict }) } };
}

function withoutMedia(message: ChatMessage): ChatMessage {
  if (message.role !== "user" && message.role !== "tool") return message;
  const content = adaptContent(message.content, () => false);
  return content === message.content ? message : { ...message, content };
}
