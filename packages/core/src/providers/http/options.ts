import { describeValue, fromUtf8, isRecord, isSecretName, quote } from "@agent/internal";
import { AgentError } from "../../errors.js";
import { checkOptions, type OptionChecks } from "../../toolkit/hostOptions/checkOptions.js";
import { checkObject, checkText, textsOf, type ValueCheck } from "../../toolkit/hostOptions/checks.js";
import { compileSchema } from "../../toolkit/jsonSchema/compile.js";
import type { JsonSchema } from "../../tools/tool.js";
import type { ProviderFactory, ProviderOptions } from "../factory.js";
import type { Fetch } from "./redirect.js";
import type { RetryPolicy } from "./retry.js";

const checkNames = textsOf("names");
const DEFAULT_TIMEOUT_MS = 5 * 60 * 1000;

/** What `readProviderOptions` needs to know about a provider. */
export interface OptionRules<Options extends ProviderOptions>
  extends Pick<ProviderFactory, "keyVariables" | "baseURLVariable" | "baseURL" | "options"> {
  /** The name in messages: `AnthropicProvider`. */
  readonly owner: string;
  /** Body fields that the conversation sets. They are refused in the option `body`, which could not override them. */
  readonly ownFields: readonly string[];
  /** Checks for options that only this provider has and that JSON Schema cannot describe, such as a client. */
  readonly checks?: { readonly [Name in Exclude<keyof Options, keyof ProviderOptions>]?: ValueCheck };
}

/** `ProviderOptions` with their defaults. */
export interface CheckedOptions {
  readonly model: string;
  /** Empty if the server needs none. */
  readonly apiKey: string;
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch?: Fetch | undefined;
  readonly timeoutMs: number;
  readonly retries: RetryPolicy;
  readonly body: Readonly<Record<string, unknown>>;
  /** Values that must never appear in a message. */
  readonly secrets: readonly string[];
}

/**
 * Returns the options with their defaults, including the environment. Throws `invalid_argument`, naming the option; a
 * key is never echoed. A key is optional if the base URL is not the provider's own.
 */
export function readProviderOptions<Options extends ProviderOptions>(
  options: Options,
  rules: OptionRules<Options>,
): CheckedOptions {
  checkObject("rules", rules);
  checkText("rules.owner", rules.owner);
  checkNames("rules.keyVariables", rules.keyVariables);
  checkNames("rules.ownFields", rules.ownFields);
  const { owner, keyVariables, baseURLVariable } = rules;
  const common = commonChecks(owner, rules.ownFields);
  const own = schemaChecks(owner, rules.options ?? {});
  checkOptions(owner, options, { ...common, ...own, ...rules.checks } as OptionChecks<Options>);
  const {
    model,
    apiKey: key = fromEnvironment(keyVariables) ?? "",
    baseURL: address = fromEnvironment([baseURLVariable]),
    headers = {},
    fetch,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxRetries = 3,
    retryDelayMs = 500,
    maxRetryDelayMs = 60_000,
    body = {},
  } = options;
  // Check again: these may be absent, or come from the environment.
  common.model("model", model);
  common.apiKey("apiKey", key);
  if (address !== undefined) common.baseURL("baseURL", address);
  const apiKey = key.trim();
  if (apiKey === "" && address === undefined) {
    throw invalidOption(owner, `there is no API key. Set ${keyVariables[0]}, or pass apiKey or baseURL`);
  }
  const baseURL = address ?? rules.baseURL;
  return {
    model,
    apiKey,
    baseURL,
    headers: { ...headers },
    ...(fetch && { fetch }),
    timeoutMs,
    retries: { maxRetries, baseDelayMs: retryDelayMs, maxDelayMs: maxRetryDelayMs },
    body: { ...body },
    secrets: [apiKey, ...headerSecrets(headers), ...addressSecrets(baseURL)],
  };
}

/** The error for an option that is wrong: `AnthropicProvider: maxTokens must be …` */
export function invalidOption(owner: string, problem: string): AgentError {
  return new AgentError("invalid_argument", `${owner}: ${problem}${/[.?]$/.test(problem) ? "" : "."}`);
}

/** Checks options with the schemas of a provider's own options. */
function schemaChecks(
  owner: string,
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, ValueCheck>> {
  const checkBy =
    (schema: JsonSchema): ValueCheck =>
    (name, value) => {
      const problem = compileSchema({ type: "object", properties: { [name]: schema } })({ [name]: value });
      if (problem !== undefined) throw invalidOption(owner, problem);
    };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, checkBy(schema)]));
}

function fromEnvironment(names: readonly string[]): string | undefined {
  return names
    .map((name) => globalThis.process?.env?.[name])
    .find((value) => value !== undefined && value !== "");
}

/** The secrets in headers with credentials: the part after the scheme, and for `Basic` also the password inside. */
export function headerSecrets(headers: Readonly<Record<string, string>>): string[] {
  checkObject("headers", headers);
  return Object.entries(headers)
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value]) => {
      const [, scheme = "", credential = ""] = /^(?:([\w-]+)\s+)?(.*)$/s.exec(value.trim()) ?? [];
      if (scheme.toLowerCase() !== "basic") return [credential];
      const password = decodeBase64(credential).replace(/^[^:]*:/, "");
      return [credential, password];
    });
}

function decodeBase64(text: string): string {
  try {
    return fromUtf8(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return "";
  }
}

/** The secrets in a URL: some gateways take a key there, as in `https://host/v1?api-key=…`. */
function addressSecrets(baseURL: string): string[] {
  return [...new URL(baseURL).searchParams].filter(([name]) => isSecretName(name)).map(([, value]) => value);
}

function commonChecks(
  owner: string,
  ownFields: readonly string[],
): { readonly [Name in keyof Required<ProviderOptions>]: ValueCheck } {
  const invalid = (problem: string): AgentError => invalidOption(owner, problem);
  const entriesOf = (name: string, value: unknown): [string, unknown][] => {
    if (isRecord(value)) return Object.entries(value);
    throw invalid(`${name} must be an object, got ${describeValue(value)}`);
  };
  const atLeast =
    (least: number): ValueCheck =>
    (name, value) => {
      if (typeof value === "number" && value >= least) return;
      throw invalid(`${name} must be a number of at least ${least}, got ${describeValue(value)}`);
    };
  return {
    model(name, value) {
      if (typeof value === "string" && value !== "") return;
      throw invalid(`${name} must be a non-empty string, got ${describeValue(value)}`);
    },
    apiKey(name, value) {
      if (typeof value !== "string") throw invalid(`${name} must be a string, got ${typeof value}`);
      // Check here: the HTTP client's own error would quote the key.
      if (/^[\x21-\x7e]*$/.test(value.trim())) return;
      throw invalid(`${name} holds a space, a line break or another character that no HTTP header can carry`);
    },
    baseURL(name, value) {
      if (typeof value !== "string") throw invalid(`${name} must be a string, got ${describeValue(value)}`);
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (!url || !/^https?:$/.test(url.protocol)) {
        throw invalid(
          `${name} must be an address such as "http://localhost:11434/v1", got ${describeValue(value)}`,
        );
      }
      if (url.username !== "" || url.password !== "") {
        throw invalid(`${name} must not hold a user name or a password. Pass apiKey or headers instead`);
      }
    },
    headers(name, value) {
      for (const [header, content] of entriesOf(name, value)) {
        if (typeof content !== "string") {
          throw invalid(`${name}[${quote(header)}] must be a string, got ${typeof content}`);
        }
        try {
          new Headers([[header, content]]);
        } catch {
          throw invalid(`${name}[${quote(header)}] is not a header that HTTP can carry`);
        }
      }
    },
    fetch(name, value) {
      if (typeof value !== "function")
        throw invalid(`${name} must be a function, got ${describeValue(value)}`);
    },
    timeoutMs: atLeast(1),
    maxRetries: atLeast(0),
    retryDelayMs: atLeast(0),
    maxRetryDelayMs: atLeast(0),
    body(name, value) {
      const own = entriesOf(name, value).find(([field]) => ownFields.includes(field));
      if (own !== undefined) throw invalid(`${name} must not hold "${own[0]}": the conversation decides it`);
    },
  };
}
