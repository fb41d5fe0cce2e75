import type { ChatRequest, Effort, ToolChoice } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerReader,
  type AttemptError,
  fitEffort,
  isRecord,
  jsonBody,
  MediaFitter,
  type MediaLimits,
  Notices,
  outputInstruction,
  systemTexts,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { ContentReader } from "./answer.js";
import { ContentWriter } from "./contents.js";
import { FunctionNames } from "./functionNames.js";
import type { GoogleSettings } from "./options.js";
import { googleSchema } from "./schema.js";

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

/** Tokens for thinking, for models before Gemini 3: they take a number and no level. */
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
        `Google takes no tool name that begins with a digit or a dash: ${name} is called ${fitting} there.`,
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
