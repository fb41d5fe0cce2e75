import type { JsonSchema, ModelFacts, ProviderOptions } from "@agent/core";
import {
  type CheckedOptions,
  invalidOption,
  isRecord,
  modelFacts,
  readProviderOptions,
} from "@agent/core/provider";
import { describeValue } from "@agent/internal";
import type OpenAI from "openai";
import { MODELS } from "./models.js";

const OWNER = "OpenAIProvider";
const APIS = ["chat", "responses"] as const;
// Fields of the body that the provider sets itself, on either API.
const OWN_FIELDS = ["model", "messages", "input", "instructions", "tools", "stream"];

export const OPTIONS: Readonly<Record<string, JsonSchema>> = {
  api: { enum: APIS },
  accepts: { type: "array", items: { type: "string" } },
};

export const KEY_VARIABLE = "OPENAI_API_KEY";
export const BASE_URL_VARIABLE = "OPENAI_BASE_URL";
export const OWN_ADDRESS = "https://api.openai.com/v1";

/** Which of OpenAI's two APIs to use: chat completions or Responses. */
export type OpenAIApi = (typeof APIS)[number];

/** The part of the SDK's client that is used. `OpenAI` and `AzureOpenAI` of any copy of the package have it. */
export type OpenAIClient = Pick<OpenAI, "baseURL" | "apiKey" | "get" | "post">;

export interface OpenAIProviderOptions extends ProviderOptions {
  /** Default: `responses` for OpenAI's own address, `chat` for any other. */
  readonly api?: OpenAIApi;
  /**
   * A ready client of the `openai` package, for Azure or a proxy. It then provides the key, the URL and the headers.
   */
  readonly client?: OpenAIClient;
  /** Media types the model accepts, such as `image/png`. Default: images, and PDFs on OpenAI's own server. */
  readonly accepts?: readonly string[];
}

export interface OpenAISettings extends CheckedOptions {
  readonly api: OpenAIApi;
  readonly client: OpenAIClient | undefined;
  /** Whether this is OpenAI's own server, and not a compatible one. */
  readonly isOwn: boolean;
  readonly accepts: readonly string[] | undefined;
  /** Facts about the model. Only for OpenAI's own server is the name certain to mean this model. */
  readonly facts: ModelFacts | undefined;
}

/** The options with their defaults. Throws `invalid_argument`, naming the option; a key is never echoed. */
export function openaiSettings(options: OpenAIProviderOptions): OpenAISettings {
  const { client } = isRecord(options) ? (options as Partial<OpenAIProviderOptions>) : {};
  const given = client === undefined ? options : withoutAddress(options, checkClient("client", client));
  const checked = readProviderOptions<OpenAIProviderOptions>(given, {
    owner: OWNER,
    keyVariables: [KEY_VARIABLE],
    baseURLVariable: BASE_URL_VARIABLE,
    baseURL: OWN_ADDRESS,
    ownFields: OWN_FIELDS,
    options: OPTIONS,
    checks: { client: checkClient },
  });
  const isOwn = /(^|\.)api\.openai\.com$/.test(new URL(checked.baseURL).hostname);
  return {
    ...checked,
    api: options.api ?? (isOwn ? "responses" : "chat"),
    client,
    isOwn,
    accepts: options.accepts,
    facts: isOwn ? modelFacts(MODELS, checked.model) : undefined,
  };
}

function withoutAddress(options: OpenAIProviderOptions, client: OpenAIClient): OpenAIProviderOptions {
  const extra = (["apiKey", "baseURL", "headers"] as const).find((name) => options[name] !== undefined);
  if (extra !== undefined)
    throw invalidOption(OWNER, `${extra} belongs to the client. Leave one of them out`);
  return { ...options, baseURL: client.baseURL, apiKey: "" };
}

function checkClient(name: string, value: unknown): OpenAIClient {
  const { post, get, baseURL } = (isRecord(value) ? value : {}) as Partial<OpenAIClient>;
  if (typeof post === "function" && typeof get === "function" && typeof baseURL === "string") {
    return value as OpenAIClient;
  }
  throw invalidOption(OWNER, `${name} must be a client of the openai package, got ${describeValue(value)}`);
}
