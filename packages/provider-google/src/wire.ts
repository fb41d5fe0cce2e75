import type { ChatRequest } from "@agent/core";
import {
  type AnswerReader,
  type CheckedOptions,
  contentText,
  Notices,
  outputInstruction,
  ToolAdapter,
  type Wire,
} from "@agent/core/provider";
import { isRecord } from "@agent/core/toolkit";
import { ContentReader } from "./answer.js";
import { wireContents } from "./contents.js";
import { FunctionNames } from "./functionNames.js";
import { googleSchema } from "./schema.js";

// Generations that sign their calls, and that take a form of the answer beside tools.
const SIGNED = /^gemini-([3-9]|\d\d)|-latest$/;

/** Google's generateContent API. */
export class GenerateContentWire implements Wire {
  readonly #settings: CheckedOptions;
  readonly #notices = new Notices();
  readonly #tools = new ToolAdapter("Google", googleSchema, this.#notices);
  readonly #isSigned: boolean;

  constructor(settings: CheckedOptions) {
    this.#settings = settings;
    this.#isSigned = SIGNED.test(settings.model);
  }

  request(request: ChatRequest, stream: boolean) {
    const { model, body: given } = this.#settings;
    const { messages, output } = request;
    const names = this.#namesOf(request);
    const isNative = output !== undefined && (this.#isSigned || request.tools.length === 0);
    const system = messages.flatMap(({ role, content }) => (role === "system" ? [contentText(content)] : []));
    if (output && !isNative) system.push(outputInstruction(output));
    const declarations = this.#tools.all(request).map(({ name, description, parameters }) => ({
      name: names.toWire(name),
      ...(description !== undefined && { description }),
      parametersJsonSchema: parameters,
    }));
    // The conversation comes last and only grows, so each request begins with the bytes of the one before.
    const body = {
      ...given,
      ...(isNative && {
        generationConfig: {
          ...(isRecord(given.generationConfig) && given.generationConfig),
          responseMimeType: "application/json",
          responseJsonSchema: googleSchema(output.schema).schema,
        },
      }),
      ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
      ...(declarations.length > 0 && { tools: [{ functionDeclarations: declarations }] }),
      contents: wireContents(messages, {
        model,
        names,
        isSigned: this.#isSigned,
        onRefused: (text) => this.#notices.say(request, text),
      }),
    };
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
