/** The variables in which the providers' keys usually are: withheld from commands and hidden in results. */
export const PROVIDER_KEY_VARIABLES: readonly string[] = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "OPENROUTER_API_KEY",
  "MISTRAL_API_KEY",
  "GROQ_API_KEY",
  "DEEPSEEK_API_KEY",
  "XAI_API_KEY",
  "AZURE_OPENAI_API_KEY",
];

/** The keys in this process's environment, where it has one. */
export function defaultSecrets(): readonly string[] {
  const env = globalThis.process?.env ?? {};
  return PROVIDER_KEY_VARIABLES.flatMap((name) => env[name] ?? []);
}
