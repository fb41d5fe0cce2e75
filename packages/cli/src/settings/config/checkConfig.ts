import { parseRule } from "@agent/core/host";
import { compileSchema, isRecord, quote } from "@agent/core/toolkit";
import { describeValue, didYouMean } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { isProviderName, PROVIDER_NAMES } from "../providerCatalog.js";
import { hideCredentials } from "../secrets.js";
import { keyPattern, locate } from "./locate.js";
import { CONFIG_SCHEMA, KEY_ACTIONS } from "./schema.js";
import type { AgentConfig } from "./types.js";

/** The source of a config, for messages that name the file and the line. */
export interface ConfigSource {
  readonly file: string;
  readonly text: string;
}

/** Checks the content of a config file. Throws one message with the file, the line, the key and the nearest match. */
export function checkConfig(value: unknown, source: ConfigSource): AgentConfig {
  if (!isRecord(value)) {
    throw new CliError(
      `${source.file}: the config must be an object, got ${describeValue(value)}. Write: export default defineConfig({ … })`,
    );
  }
  const found = findKeyProblem(value.keys) ?? findSchemaProblem(value) ?? findOtherProblem(value);
  if (found)
    throw new CliError(`${locate(source.file, source.text, keyPattern(found.key))}: ${found.message}`);
  return value as AgentConfig;
}

interface Problem {
  /** The key to look for in the file. */
  readonly key: string;
  readonly message: string;
}

function findSchemaProblem(config: Readonly<Record<string, unknown>>): Problem | undefined {
  // A provider object is an object with methods, not settings.
  const { provider, ...others } = config;
  const sentence = compileSchema(CONFIG_SCHEMA)(isOwnProvider(provider) ? others : config);
  if (sentence === undefined) return undefined;
  // Every problem starts with the path of the value in quotation marks: "provider.baseUrl", "enable[1]".
  const path = /^"([^"]*)"/.exec(sentence)?.[1] ?? "";
  const key =
    path
      .replace(/(\[\d+\])+$/, "")
      .split(".")
      .at(-1) ?? path;
  // Do not quote a value in place of the provider's name: it may be a key.
  const message =
    path === "provider.apiKey" ? sentence.replace(/, got .*$/s, ".") : hideCredentials(sentence);
  return { key, message };
}

/** Finds problems that a schema cannot express: functions, unknown names, and keys that contradict each other. */
function findOtherProblem({
  packs,
  provider,
  permissions,
  enable,
  disable,
}: AgentConfig): Problem | undefined {
  const pack = (packs ?? []).findIndex((item) => !isPack(Array.isArray(item) ? item[0] : item));
  if (pack !== -1) {
    const expected = "must be a pack with a register function, or a tool with execute";
    return { key: "packs", message: `"packs[${pack}]" ${expected}, got ${describeValue(packs?.[pack])}.` };
  }
  return findProviderProblem(provider) ?? findRuleProblem(permissions) ?? findContradiction(enable, disable);
}

// Ctrl+I, J, M and H are Tab, line feed, Enter and Backspace: a terminal cannot tell them apart.
const KEY_NAMES: readonly string[] = [
  ...[..."abdefgklnopqrstuvwxyz"].map((letter) => `ctrl-${letter}`),
  ...[..."abcdefghijklmnopqrstuvwxyz"].map((letter) => `alt-${letter}`),
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
  ...["shift-tab", "tab", "up", "down", "home", "end", "delete"],
];
const FIXED_KEYS: Readonly<Record<string, string>> = {
  "ctrl-c": "Ctrl+C always stops and leaves",
  "ctrl-i": "a terminal sends the same for Tab",
  "ctrl-j": "a terminal sends the same for a line break",
  "ctrl-m": "a terminal sends the same for Enter",
  "ctrl-h": "a terminal sends the same for Backspace",
  enter: "Enter always sends",
  escape: "Esc always stops",
  esc: "Esc always stops",
};

/** Finds a key that is misspelt or cannot be bound, and an unknown action. */
function findKeyProblem(keys: unknown): Problem | undefined {
  if (!isRecord(keys)) return undefined;
  const seen = new Map<string, string>();
  for (const [key, action] of Object.entries(keys)) {
    const name = key.toLowerCase().replaceAll("+", "-");
    const refuse = (reason: string): Problem => ({
      key,
      message: `"keys" cannot bind ${quote(key)}${reason}`,
    });
    if (Object.hasOwn(FIXED_KEYS, name)) return refuse(`: ${FIXED_KEYS[name]}.`);
    if (!KEY_NAMES.includes(name) && !/^alt-\S$/u.test(name)) {
      const form = 'A key is written as "ctrl-t", "alt-p", "f2" or "shift-tab".';
      return refuse(`, which is not a key. ${didYouMean(name, KEY_NAMES, { otherwise: form })}`);
    }
    const same = seen.get(name);
    if (same !== undefined) return refuse(`: ${quote(same)} is the same key.`);
    seen.set(name, key);
    if (typeof action !== "string" || action.startsWith("/") || KEY_ACTIONS.includes(action)) continue;
    const hint = didYouMean(action, KEY_ACTIONS);
    return { key, message: `${quote(`keys.${key}`)} is ${quote(action)}, which is not an action. ${hint}` };
  }
  return undefined;
}

function isPack(item: unknown): boolean {
  if (typeof item === "string") return true;
  return isRecord(item) && (typeof item.register === "function" || typeof item.execute === "function");
}

function isOwnProvider(provider: unknown): boolean {
  return isRecord(provider) && typeof provider.respond === "function";
}

function findProviderProblem(provider: AgentConfig["provider"]): Problem | undefined {
  if (provider === undefined || isOwnProvider(provider)) return undefined;
  const { name, baseURL } = typeof provider === "string" ? { name: provider } : (provider as ProviderKeys);
  if (name !== undefined && !isProviderName(name)) {
    const path = typeof provider === "string" ? "provider" : "provider.name";
    const expected = `must be a provider's name (${PROVIDER_NAMES.map(quote).join(", ")} or a package)`;
    return { key: path.split(".").at(-1) ?? path, message: `"${path}" ${expected}, got ${quote(name)}.` };
  }
  if (baseURL === undefined || URL.canParse(baseURL)) return undefined;
  return {
    key: "baseURL",
    message: `"provider.baseURL" must be a URL, got ${hideCredentials(describeValue(baseURL))}.`,
  };
}

interface ProviderKeys {
  readonly name?: string;
  readonly baseURL?: string;
}

function findRuleProblem(permissions: AgentConfig["permissions"] = {}): Problem | undefined {
  for (const [key, rules] of Object.entries(permissions)) {
    const wrong = rules.findIndex((rule) => !isRule(rule));
    if (wrong === -1) continue;
    const example = 'must be a rule such as "run_bash(npm test *)"';
    return { key, message: `"permissions.${key}[${wrong}]" ${example}, got ${describeValue(rules[wrong])}.` };
  }
  return undefined;
}

function isRule(rule: string): boolean {
  try {
    return parseRule(rule) !== undefined;
  } catch {
    return false;
  }
}

function findContradiction(
  enable: AgentConfig["enable"] = [],
  disable: AgentConfig["disable"] = [],
): Problem | undefined {
  const both = enable.find((tool) => disable.includes(tool));
  if (both === undefined) return undefined;
  return {
    key: "disable",
    message: `${quote(both)} is both in enable and in disable. Remove it from one of them.`,
  };
}
