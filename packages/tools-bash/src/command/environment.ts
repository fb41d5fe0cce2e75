import {
  describeValue,
  isRecord,
  isSecretName,
  isSecretValue,
  KEY_VARIABLES,
  matchesName,
  quote,
} from "@agent/core/toolkit";

/**
 * Variables that are withheld from commands unless `hideEnv` replaces them: the API keys of model providers, and the
 * headers of OpenAI's SDK, which may contain one.
 */
export const DEFAULT_HIDDEN_ENV: readonly string[] = [...KEY_VARIABLES, "OPENAI_CUSTOM_HEADERS"];
/** The variable that holds the tag of every process a command starts. */
const TAG_VARIABLE = "AGENT_RUN_BASH";
/** A shorter value is not a secret, and would match many variables by chance. */
const SHORTEST_SECRET = 8;
/**
 * The pattern a value must match before other variables with the same text are hidden too, if its variable only looks
 * like a secret.
 */
const TOKEN = /^[^\s/]{16,}$/;

// The kernel refuses a single "NAME=value" beyond 32 pages.
const MAX_ENTRY_BYTES = 128 * 1024 - 1;

/** Checks the `env` argument. Numbers become text; anything else that is not a string is an error. */
export function checkedEnv(value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value)) {
    throw new Error(`"env" must be an object of strings, got ${describeValue(value)}.`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, checkedEntry(name, entry)]));
}

function checkedEntry(name: string, value: unknown): string {
  const label = `"env" value of ${quote(name)}`;
  if (name === "" || /[=\0]/.test(name)) {
    throw new Error(`"env" has the name ${quote(name)}: a name must not be empty or contain "=" or NUL.`);
  }
  const text = typeof value === "number" && Number.isFinite(value) ? String(value) : value;
  if (typeof text !== "string") throw new Error(`${label} must be a string, got ${describeValue(value)}.`);
  if (text.includes("\0")) throw new Error(`${label} contains a NUL character, which no variable can hold.`);
  const bytes = Buffer.byteLength(name) + 1 + Buffer.byteLength(text);
  if (bytes > MAX_ENTRY_BYTES) {
    throw new Error(
      `${label} is ${bytes} bytes; the system allows ${MAX_ENTRY_BYTES}. Write it to a file and pass the path.`,
    );
  }
  return text;
}

/** Which of the agent's variables a command gets. */
export interface EnvironmentRules {
  /** Patterns of names that are hidden. */
  readonly hidden: readonly string[];
  /** Names whose values are secrets: a variable that holds such a value is hidden too. */
  readonly secret: readonly string[];
  /** In a sandbox, variables that look like secrets are hidden except these name patterns; `undefined` outside. */
  readonly passed: readonly string[] | undefined;
}

/** Builds the environment of a command: the agent's own without hidden variables, then `extra`, then the tag. */
export function buildEnvironment(
  rules: EnvironmentRules,
  extra: Readonly<Record<string, string>>,
  tag: string,
): Record<string, string> {
  // No prototype: a variable may be called "__proto__".
  const env: Record<string, string> = Object.create(null);
  const hidden = matchNames(rules.hidden);
  const guessed = guessSecrets(rules);
  const secrets = [
    ...rules.secret.map((name) => process.env[name] ?? "").filter((value) => value.length >= SHORTEST_SECRET),
    ...[...guessed.values()].filter((value) => TOKEN.test(value)),
  ];
  // Not `Object.entries`: it would read hidden variables too, and each read of `process.env` leaves JavaScript.
  for (const name of Object.keys(process.env)) {
    const value = hidden(name) || guessed.has(name) ? undefined : process.env[name];
    if (value !== undefined && !secrets.some((text) => value.includes(text))) env[name] = value;
  }
  if (rules.passed !== undefined) hideGitSecrets(env, matchNames(rules.passed));
  addGitSetting(env, "safe.bareRepository", "explicit");
  Object.assign(env, extra);
  return Object.assign(env, tagVariable(tag));
}

/** Clears the values of git settings that hold a secret, such as an authorization header. */
function hideGitSecrets(env: Record<string, string>, isPassed: (name: string) => boolean): void {
  for (const [name, key] of Object.entries(env)) {
    const number = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1];
    const value = `GIT_CONFIG_VALUE_${number}`;
    if (number === undefined || isPassed(value)) continue;
    if (isSecretName(key) || /extraheader$/i.test(key)) env[value] = "";
  }
}

/**
 * Adds a setting for every git that a command runs. A project may contain a bare repository as ordinary files, whose
 * configuration names programs: without `safe.bareRepository`, `git status` in that directory runs them.
 */
function addGitSetting(env: Record<string, string>, key: string, value: string): void {
  const count = /^\d{1,4}$/.test(env.GIT_CONFIG_COUNT ?? "0") ? Number(env.GIT_CONFIG_COUNT ?? 0) : 0;
  env.GIT_CONFIG_COUNT = String(count + 1);
  env[`GIT_CONFIG_KEY_${count}`] = key;
  env[`GIT_CONFIG_VALUE_${count}`] = value;
}

/** The variables that look like secrets and are not passed, with their values. */
function guessSecrets({ passed }: EnvironmentRules): Map<string, string> {
  if (passed === undefined) return new Map();
  const isPassed = matchNames(passed);
  const all = Object.entries(process.env).map(([name, value = ""]) => [name, value] as const);
  return new Map(
    all.filter(([name, value]) => (isSecretName(name) || isSecretValue(value)) && !isPassed(name)),
  );
}

/** The variable that identifies the command a process belongs to. */
export function tagVariable(tag: string): Record<string, string> {
  // Append the tag: an agent that was started by another agent's command stays visible to the outer agent.
  return { [TAG_VARIABLE]: `${process.env[TAG_VARIABLE] ?? ""}${tag}` };
}

/** Whether a name matches one of the patterns. `*` matches any characters. */
export function matchNames(patterns: readonly string[]): (name: string) => boolean {
  // Variable names are case-insensitive on Windows.
  const fold = (name: string): string => (process.platform === "win32" ? name.toUpperCase() : name);
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")).map(fold));
  const wild = patterns.filter((pattern) => pattern.includes("*")).map(fold);
  return (name) => exact.has(fold(name)) || wild.some((pattern) => matchesName(pattern, fold(name)));
}
