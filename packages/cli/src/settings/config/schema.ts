import { isRecord, quote } from "@agent/core/toolkit";
import { describeValue, nearestMatch } from "@agent/internal";
import { MODES } from "../../permissions/mode.js";
import { parseRule } from "../../permissions/rule.js";
import { CliError } from "../../process/errors.js";
import { isProviderName, PROVIDER_NAMES } from "../providerCatalog.js";
import { hideCredentials } from "../secrets.js";
import { keyPattern, locate } from "./locate.js";
import type { AgentConfig } from "./types.js";

/** Where a config came from, for messages that name the file and the line. */
export interface ConfigSource {
  readonly file: string;
  readonly text: string;
}

type Check = (value: unknown) => string | undefined;

const KEYS: Readonly<Record<keyof AgentConfig, Check>> = {
  packs: listOf(
    isPack,
    'package names, relative paths or ["name", { …options }] pairs',
    'a pack: "name" or ["name", { …options }]',
  ),
  enable: toolList,
  disable: toolList,
  confirm: toolList,
  permissions: checkPermissions,
  mode: (value) =>
    MODES.some((mode) => mode === value)
      ? undefined
      : `one of ${MODES.map((mode) => quote(mode)).join(", ")}`,
  readOnly: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  addDirs: listOf(isName, 'an array of directories, such as ["../shared"]', "a directory"),
  provider: checkProvider,
  model: text,
  fallback: text,
  systemPrompt: (value) => (typeof value === "string" ? undefined : "a string"),
  agents: checkAgents,
  prices: checkPrices,
  notify: (value) =>
    value === false || positive(value) === undefined ? undefined : "a number of milliseconds, or false",
  maxTurns: positive,
  maxRepeats: positive,
  contextTokens: positive,
};

const PROVIDER_KEYS: Readonly<Record<string, Check>> = {
  name: (value) => (typeof value === "string" && isProviderName(value) ? undefined : PROVIDER_NAME),
  model: text,
  baseURL: (value) => (typeof value === "string" && URL.canParse(value) ? undefined : "a URL"),
  apiKey: text,
  headers: (value) =>
    isRecord(value) && Object.values(value).every((one) => typeof one === "string")
      ? undefined
      : "an object of strings",
  body: (value) => (isRecord(value) ? undefined : "an object"),
  timeoutMs: positive,
};

const PROVIDER_NAME = `a provider's name (${PROVIDER_NAMES.map(quote).join(", ")} or a package)`;

const PROFILE_KEYS: Readonly<Record<string, Check>> = {
  systemPrompt: KEYS.systemPrompt,
  tools: toolList,
  model: text,
};

/** Checks what a config file holds. Throws one message with the file, the line, the key and the nearest match. */
export function checkConfig(value: unknown, source: ConfigSource): AgentConfig {
  if (!isRecord(value)) {
    throw new CliError(
      `${source.file}: the config must be an object, got ${describeValue(value)}. Write: export default defineConfig({ … })`,
    );
  }
  checkKeys(value, KEYS, "", source);
  const both = asList(value.enable).find((name) => asList(value.disable).includes(name));
  if (both !== undefined) {
    fail(
      source,
      "disable",
      `${quote(String(both))} is both in enable and in disable. Remove it from one of them.`,
    );
  }
  return value as AgentConfig;
}

function checkKeys(
  value: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, Check>>,
  prefix: string,
  source: ConfigSource,
): void {
  for (const [key, item] of Object.entries(value)) {
    const path = `${prefix}${key}`;
    const check = Object.hasOwn(known, key) ? known[key] : undefined;
    if (!check) {
      const meant = nearestMatch(key, Object.keys(known));
      const hint = meant ? `Did you mean ${quote(meant)}?` : `Known keys: ${Object.keys(known).join(", ")}.`;
      fail(source, key, `unknown key ${quote(path)}. ${hint}`);
    }
    if (item === undefined) continue;
    const expected = check(item);
    if (expected !== undefined) fail(source, key, problem(path, expected, item));
    if (path === "provider" && isRecord(item) && typeof item.respond !== "function") {
      checkKeys(item, PROVIDER_KEYS, "provider.", source);
    }
    if (path === "agents" && isRecord(item)) {
      for (const [name, profile] of Object.entries(item)) {
        checkKeys(profile as Record<string, unknown>, PROFILE_KEYS, `agents.${name}.`, source);
      }
    }
  }
}

/** `expected` is what the value should have been; one that starts with `[` names the wrong item of a list. */
function problem(path: string, expected: string, value: unknown): string {
  if (expected.startsWith("[")) return `${path}${expected}`;
  // What stands where a key belongs may well be one.
  const got = path === "provider.apiKey" ? typeof value : hideCredentials(describeValue(value));
  return `${path} must be ${expected}, got ${got}.`;
}

function fail(source: ConfigSource, key: string, message: string): never {
  throw new CliError(`${locate(source.file, source.text, keyPattern(key))}: ${message}`);
}

function toolList(value: unknown): string | undefined {
  return listOf(isName, 'an array of tool names, such as ["run_bash"]', "a tool's name")(value);
}

function listOf(accepts: (item: unknown) => boolean, expected: string, one: string): Check {
  return (value) => {
    if (!Array.isArray(value)) return expected.startsWith("an array") ? expected : `an array of ${expected}`;
    const wrong = value.findIndex((item) => !accepts(item));
    return wrong === -1 ? undefined : `[${wrong}] must be ${one}, got ${describeValue(value[wrong])}.`;
  };
}

function isName(item: unknown): boolean {
  return typeof item === "string" && item !== "";
}

function isPack(item: unknown): boolean {
  return (
    isPackSource(item) ||
    (isRecord(item) && typeof item.execute === "function" && isName(item.name)) ||
    (Array.isArray(item) &&
      item.length <= 2 &&
      isPackSource(item[0]) &&
      (item.length === 1 || isRecord(item[1])))
  );
}

/** A name, or the module itself: a config may import it. */
function isPackSource(item: unknown): boolean {
  const { register } = (item ?? {}) as { register?: unknown };
  return isName(item) || (typeof item === "object" && typeof register === "function");
}

function checkProvider(value: unknown): string | undefined {
  if (isRecord(value) || (typeof value === "string" && isProviderName(value))) return undefined;
  return `${PROVIDER_NAME}, { name, model, baseURL, … } or a ChatProvider`;
}

const RULE_LISTS = ["allow", "ask", "deny"];

function checkPermissions(value: unknown): string | undefined {
  if (!isRecord(value)) return 'an object of lists, such as { allow: ["run_bash(npm test *)"] }';
  for (const [key, rules] of Object.entries(value)) {
    if (!RULE_LISTS.includes(key)) {
      const meant = nearestMatch(key, RULE_LISTS);
      return `an object with allow, ask and deny; it has ${quote(key)}${meant ? `, did you mean ${quote(meant)}?` : ""}`;
    }
    const wrong = asList(rules).findIndex((rule) => !isRule(rule));
    if (!Array.isArray(rules)) return `an object whose ${key} is an array of rules`;
    if (wrong !== -1)
      return `rules such as "run_bash(npm test *)", but ${key}[${wrong}] is ${describeValue(rules[wrong])}`;
  }
  return undefined;
}

function isRule(rule: unknown): boolean {
  try {
    return typeof rule === "string" && parseRule(rule) !== undefined;
  } catch {
    return false;
  }
}

function checkAgents(value: unknown): string | undefined {
  if (isRecord(value) && Object.values(value).every(isRecord)) return undefined;
  return "an object of profiles, such as { reviewer: { systemPrompt, tools, model } }";
}

const PRICE_KEYS = ["input", "output", "cachedInput", "cacheWrite"];

function checkPrices(value: unknown): string | undefined {
  const isPrice = (price: unknown): boolean =>
    isRecord(price) &&
    typeof price.input === "number" &&
    typeof price.output === "number" &&
    Object.entries(price).every(
      ([key, amount]) => PRICE_KEYS.includes(key) && typeof amount === "number" && amount >= 0,
    );
  if (isRecord(value) && Object.values(value).every(isPrice)) return undefined;
  return 'dollars a million tokens by model, such as { "gpt-5-mini": { input: 0.25, output: 2 } } (also cachedInput, cacheWrite)';
}

function text(value: unknown): string | undefined {
  return isName(value) ? undefined : "a non-empty string";
}

function positive(value: unknown): string | undefined {
  return typeof value === "number" && value > 0 ? undefined : "a number greater than 0";
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
