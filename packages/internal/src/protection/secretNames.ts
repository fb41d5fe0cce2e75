/**
 * Environment variables that commonly hold the keys of model providers: pass none of them to a program.
 *
 * @example
 * ```ts
 * import { KEY_VARIABLES } from "@agent/core/toolkit";
 *
 * console.log(KEY_VARIABLES.includes("OPENAI_API_KEY")); // true
 * ```
 */
export const KEY_VARIABLES: readonly string[] = [
  "OPENAI_API_KEY",
  "OPENAI_ADMIN_KEY",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "AZURE_API_KEY",
  "AZURE_OPENAI_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "MISTRAL_API_KEY",
  "GROQ_API_KEY",
  "XAI_API_KEY",
  "DEEPSEEK_API_KEY",
  "OPENROUTER_API_KEY",
  "TOGETHER_API_KEY",
  "TOGETHERAI_API_KEY",
  "FIREWORKS_API_KEY",
  "PERPLEXITY_API_KEY",
  "COHERE_API_KEY",
  "CO_API_KEY",
  "CEREBRAS_API_KEY",
  "DASHSCOPE_API_KEY",
  "MOONSHOT_API_KEY",
  "ZHIPUAI_API_KEY",
  "ZAI_API_KEY",
  "HF_TOKEN",
  "HUGGINGFACE_API_KEY",
  "HUGGING_FACE_HUB_TOKEN",
  "REPLICATE_API_TOKEN",
  "NVIDIA_API_KEY",
  "AI_GATEWAY_API_KEY",
  "CLAUDE_API_KEY",
  "DEEPINFRA_API_KEY",
  "LITELLM_API_KEY",
];

/** Names of secrets, in lower case and without trailing digits. `author` and `tokens` do not match. */
const SECRET_WORD =
  /^auth(?!or(?!i[sz]))|keys?$|^apikey|token(?!i[sz]|s$)|secret|passw|passphrase|connectionstring|passcode|cookie|credential|^(?:pass|pat|pwd|jwt|dsn|bearer|webhook)$/;
/** The name of a setting for git, not its value. */
const GIT_SETTING = /^GIT_CONFIG_KEY_\d+$/;
/** The working directory of every shell, whose name looks like a password. */
const WORKING_DIRECTORY = "PWD";
/** Prefixes of well-known issuers, so that a key is recognised whatever its name. */
const ISSUED =
  /^(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[abeprs]|npm|hf|pypi|dop_v1|shpat)[_-]|AKIA|ASIA|AIza|ya29\.|eyJ)[\w.-]{8,}/;

/** Secrets of the command itself with a plural name: `viewer:TOKEN,admin:TOKEN`. */
const RUNS_TOKENS = "AGENT_RUNS_TOKENS";

/**
 * Whether a variable, header, option or parameter with this name holds a secret such as a key, token or password.
 *
 * @example
 * ```ts
 * import { isSecretName } from "@agent/core/toolkit";
 *
 * console.log(isSecretName("ACME_TOKEN"), isSecretName("author")); // true false
 * ```
 */
export function isSecretName(name: string): boolean {
  if (name === WORKING_DIRECTORY || GIT_SETTING.test(name)) return false;
  if (name === RUNS_TOKENS) return true;
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return words.some((word) => SECRET_WORD.test(word.replace(/\d+$/, "")));
}

/**
 * Whether a value is a secret whatever its name: a key of a well-known issuer, or a URL with a password.
 *
 * @example
 * ```ts
 * import { isSecretValue } from "@agent/core/toolkit";
 *
 * console.log(isSecretValue("https://user:word@example.com"), isSecretValue("main")); // true false
 * ```
 */
export function isSecretValue(value: string): boolean {
  if (ISSUED.test(value)) return true;
  if (!value.includes("@") || !URL.canParse(value)) return false;
  const { password } = new URL(value);
  // A reference to a variable is not a secret.
  return password !== "" && !/\$|%24|%7B/i.test(password);
}
