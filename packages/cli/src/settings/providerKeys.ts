import { isRecord } from "@agent/core/toolkit";
import type { AgentConfig } from "./config/types.js";
import { isSecretName } from "./secrets.js";
import { wipeEnvironment } from "./wipeEnvironment.js";

/** Variables that commonly hold the keys of model providers. */
const KEY_VARIABLES: readonly string[] = [
  "OPENAI_API_KEY",
  "OPENAI_ADMIN_KEY",
  "AZURE_OPENAI_API_KEY",
  "AZURE_API_KEY",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_API_KEY",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "OPENROUTER_API_KEY",
  "MISTRAL_API_KEY",
  "GROQ_API_KEY",
  "XAI_API_KEY",
  "DEEPSEEK_API_KEY",
  "TOGETHER_API_KEY",
  "TOGETHERAI_API_KEY",
  "FIREWORKS_API_KEY",
  "CEREBRAS_API_KEY",
  "COHERE_API_KEY",
  "CO_API_KEY",
  "PERPLEXITY_API_KEY",
  "DEEPINFRA_API_KEY",
  "NVIDIA_API_KEY",
  "DASHSCOPE_API_KEY",
  "MOONSHOT_API_KEY",
  "ZHIPUAI_API_KEY",
  "HUGGINGFACE_API_KEY",
  "HF_TOKEN",
  "REPLICATE_API_TOKEN",
  "AI_GATEWAY_API_KEY",
  "LITELLM_API_KEY",
];
// A shorter text may occur by chance: hiding it would damage results and protect nothing.
const SHORTEST_SECRET = 8;

type Environment = Readonly<Record<string, string | undefined>>;

/** The keys of model providers, kept away from tools. */
export interface ProviderKeys {
  /** The original environment, to create the provider with. */
  readonly env: Environment;
  /** Names of all variables that held or could hold a key: no command gets them. */
  readonly variables: readonly string[];
  /** The keys themselves, to be hidden in results. */
  readonly values: readonly string[];
}

/**
 * Removes the keys from the environment that tools and their children see: the known variables, and every other one
 * with the same value as a known one or as a key of the config. Called after the config was loaded, which may read a
 * key.
 */
export function takeProviderKeys(env: NodeJS.ProcessEnv, provider: AgentConfig["provider"]): ProviderKeys {
  const before = { ...env };
  const inVariables = KEY_VARIABLES.map((name) => env[name] ?? "");
  const values = [...new Set([...inVariables, ...configuredKeys(provider)])].filter(
    (value) => value.length >= SHORTEST_SECRET,
  );
  const same = Object.keys(env).filter((name) => values.includes(bare(env[name] ?? "")));
  const variables = [...new Set([...KEY_VARIABLES, ...same])];
  for (const name of variables) delete env[name];
  if (env === process.env) wipeEnvironment(variables);
  return { env: before, variables, values };
}

function configuredKeys(provider: AgentConfig["provider"]): string[] {
  if (!isRecord(provider)) return [];
  const headers = isRecord(provider.headers) ? Object.entries(provider.headers) : [];
  const inHeaders = headers.filter(([name]) => isSecretName(name)).map(([, value]) => bare(String(value)));
  return [...(typeof provider.apiKey === "string" ? [provider.apiKey] : []), ...inHeaders];
}

function bare(value: string): string {
  return value.replace(/^bearer /i, "");
}
