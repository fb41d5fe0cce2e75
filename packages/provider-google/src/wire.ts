import type { ChatRequest } from "@agent/core";
import {
  type AdaptedTool,
  type AnswerReader,
  type CheckedOptions,
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

/** Google's generateContent API. */
export class GenerateContentWire implements Wire {
  readonly #settings: CheckedOptions;
  readonly #notices = new Notices();
  readonly media = new MediaFitter(MEDIA, this.#notices);
  readonly #tools = new ToolAdapter("Google", googleSchema, this.#notices);
  readonly #isSigned: boolean;
  readonly #contents: ContentWriter;

  constructor(settings: CheckedOptions) {
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
    const fields = {
      ...given,
      ...(isNative && {
        generationConfig: {
          ...(isRecord(given.generationConfig) && given.generationConfig),
          responseMimeType: "application/json",
          responseJsonSchema: googleSchema(output.schema).schema,
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
