import { AgentError, type ChatProvider, type ChatRequest, type ChatResponse } from "@agent/core";
import {
  AttemptError,
  type AttemptOptions,
  checkRequest,
  createRedactor,
  headerSecrets,
  type IdleTimeout,
  Notices,
  PROVIDER_KEY_VARIABLES,
  runAttempts,
} from "@agent/core/provider";
import {
  check,
  checkOptions,
  isRecord,
  type OptionChecks,
  quote,
  type ValueCheck,
} from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import { ModelAnswer } from "./answer.js";
import { attemptError } from "./failure.js";
import { type LanguageModel, VERSIONS } from "./languageModel.js";
import { toPrompt } from "./prompt.js";

const DEFAULT_ACCEPTS: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
];

const WEB_PAGE = "the answer is a web page, not JSON. Check the address that the model was made with.";

export interface FromLanguageModelOptions {
  /** Media types the model accepts. Default: common images and PDF. */
  readonly accepts?: readonly string[];
  /**
   * Whether the model enforces a JSON Schema (`responseFormat`), also with tools. Default: false, and the prompt asks
   * for JSON.
   */
  readonly nativeOutput?: boolean;
  /** More options of a call, such as `providerOptions`, `temperature` or `maxOutputTokens`. */
  readonly callOptions?: Readonly<Record<string, unknown>>;
  /** Texts to redact in every message. The provider keys in the environment and in the model's headers always are. */
  readonly secrets?: readonly string[];
  /** The maximum silence of the model before a request fails. Default: five minutes. */
  readonly timeoutMs?: number;
  /** The maximum number of retries. Default 3. */
  readonly maxRetries?: number;
  /** The first delay before a retry; it doubles. Default 500. */
  readonly retryDelayMs?: number;
  /** The maximum delay. If the server asks for a longer one, the request fails. Default 60000. */
  readonly maxRetryDelayMs?: number;
}

const checkTexts: ValueCheck = (name, value) => {
  if (Array.isArray(value) && value.every((text) => typeof text === "string")) return;
  throw invalid(`${name} must be an array of strings, got ${describeValue(value)}.`);
};
const checkNotNegative: ValueCheck = (name, value) => {
  if (typeof value === "number" && value >= 0) return;
  throw invalid(`${name} must be a number of at least 0, got ${describeValue(value)}.`);
};
const CHECKS: OptionChecks<FromLanguageModelOptions> = {
  accepts: checkTexts,
  nativeOutput: check.boolean,
  callOptions: (name, value) => {
    if (!isRecord(value)) throw invalid(`${name} must be an object, got ${describeValue(value)}.`);
  },
  secrets: checkTexts,
  timeoutMs: check.positive,
  maxRetries: checkNotNegative,
  retryDelayMs: checkNotNegative,
  maxRetryDelayMs: checkNotNegative,
};

/**
 * Uses any language model of the AI SDK (specification version 2, 3 or 4) as a provider. You provide the model, and
 * with it the URL, the key and the transport.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { fromLanguageModel, type LanguageModel } from "@agent/provider-ai-sdk";
 *
 * declare const model: LanguageModel; // such as bedrock("…") of @ai-sdk/amazon-bedrock
 * const agent = new Agent(fromLanguageModel(model));
 * ```
 */
export function fromLanguageModel(
  model: LanguageModel,
  options: FromLanguageModelOptions = {},
): ChatProvider {
  checkModel(model);
  checkOptions("fromLanguageModel", options, CHECKS);
  return new LanguageModelProvider(model, options);
}

class LanguageModelProvider implements ChatProvider {
  readonly id: string;
  readonly model: string;
  readonly nativeOutput: boolean;
  readonly #model: LanguageModel;
  readonly #options: FromLanguageModelOptions;
  readonly #attempts: AttemptOptions;
  readonly #notices = new Notices();

  constructor(model: LanguageModel, options: FromLanguageModelOptions) {
    const { timeoutMs = 300_000, maxRetries = 3, retryDelayMs = 500, maxRetryDelayMs = 60_000 } = options;
    this.id = `ai-sdk:${model.provider}`;
    this.model = model.modelId;
    this.nativeOutput = options.nativeOutput ?? false;
    this.#model = model;
    this.#options = options;
    this.#attempts = {
      model: model.modelId,
      timeoutMs,
      retries: { maxRetries, baseDelayMs: retryDelayMs, maxDelayMs: maxRetryDelayMs },
      redact: createRedactor(() => knownSecrets(model, options)),
    };
  }

  accepts(mediaType: string): boolean {
    return (this.#options.accepts ?? DEFAULT_ACCEPTS).includes(mediaType);
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    checkRequest(request);
    return await runAttempts(this.#attempts, request, async (idle) => {
      try {
        return await this.#ask(request, idle);
      } catch (error) {
        throw await attemptError(error, this.#attempts.redact);
      }
    });
  }

  async #ask(request: ChatRequest, idle: IdleTimeout): Promise<ChatResponse> {
    const answer = new ModelAnswer(this.#model, request, (warning) => this.#warn(request, warning));
    const options = this.#callOptions(request, idle.signal);
    if (!request.onText) return answer.whole(await this.#model.doGenerate(options));
    const { stream, response } = await this.#model.doStream(options);
    for await (const part of stream) {
      idle.reset();
      answer.add(part);
    }
    // The server sent an HTML page: the model's package finds no event in it and reports no error.
    if (answer.isEmpty && isWebPage(response)) throw new AttemptError(WEB_PAGE, { retryable: false });
    return answer.end();
  }

  #callOptions(request: ChatRequest, abortSignal: AbortSignal): object {
    const { messages, tools, output, effort, toolChoice = "auto" } = request;
    const takesEffort = this.#model.specificationVersion === "v4";
    if (effort !== undefined && !takesEffort) {
      this.#notices.say(
        request,
        `${this.model} has no common setting for the reasoning effort. Use callOptions.`,
      );
    }
    return {
      ...this.#options.callOptions,
      ...(effort !== undefined && takesEffort && { reasoning: effort === "off" ? "none" : effort }),
      prompt: toPrompt(messages, this.model, this.#model.specificationVersion),
      ...(tools.length > 0 && {
        tools: tools.map(({ function: { name, description, parameters } }) => ({
          type: "function",
          name,
          ...(description !== undefined && { description }),
          inputSchema: parameters ?? { type: "object", properties: {} },
        })),
        toolChoice:
          typeof toolChoice === "string" ? { type: toolChoice } : { type: "tool", toolName: toolChoice.tool },
      }),
      ...(output &&
        this.nativeOutput && {
          responseFormat: { type: "json", schema: output.schema, name: output.name },
        }),
      abortSignal,
    };
  }

  #warn(request: ChatRequest, { message, details, feature, setting, type }: Record<string, unknown>): void {
    const words = [type, feature ?? setting, details ?? message].filter((word) => typeof word === "string");
    this.#notices.say(request, `${this.model}: ${words.join(" ")}`);
  }
}

function isWebPage(response: unknown): boolean {
  const headers = isRecord(response) && isRecord(response.headers) ? response.headers : {};
  return /html/i.test(String(headers["content-type"] ?? ""));
}

/** The keys in the environment, in the model's headers, and those the caller names. */
function knownSecrets(model: LanguageModel, { secrets = [] }: FromLanguageModelOptions): string[] {
  const known = PROVIDER_KEY_VARIABLES.flatMap((name) => process.env[name] ?? []);
  return [...secrets, ...known, ...headerSecrets(configuredHeaders(model))];
}

function configuredHeaders(model: LanguageModel): Record<string, string> {
  try {
    const { config } = model as { config?: unknown };
    const given = isRecord(config) ? config.headers : undefined;
    const headers: unknown = typeof given === "function" ? given.call(config) : given;
    if (!isRecord(headers)) return {};
    const texts = Object.entries(headers).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(texts) as Record<string, string>;
  } catch {
    // The headers cannot be read, so their secrets are not known.
    return {};
  }
}

function checkModel(model: unknown): void {
  const {
    specificationVersion: version,
    doGenerate,
    doStream,
  } = (isRecord(model) ? model : {}) as Partial<LanguageModel>;
  if (typeof doGenerate !== "function" || typeof doStream !== "function") {
    throw invalid(`model must be a language model of the AI SDK, got ${describeValue(model)}.`);
  }
  if (!VERSIONS.includes(String(version))) {
    throw invalid(
      `model must be a language model of specification ${VERSIONS.join(", ")}, got ${quote(String(version))}.`,
    );
  }
}

function invalid(problem: string): AgentError {
  return new AgentError("invalid_argument", problem);
}
