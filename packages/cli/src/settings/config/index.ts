import type { AgentConfig, PackReference } from "./types.js";

/** The lightweight entry `@agent/cli/config`: types and `defineConfig`; the loader is loaded on use. */
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from "./loadConfig.js";
export type {
  AgentConfig,
  AgentProfile,
  BuiltInTool,
  PackReference,
  ProviderName,
  ProviderSettings,
  SystemPromptParts,
  ToolName,
} from "./types.js";

/**
 * Returns the config unchanged. It provides types and completion in editors, including the options and tools of the
 * config's packs.
 */
export function defineConfig<const Packs extends readonly PackReference[] = readonly []>(
  config: AgentConfig<Packs>,
): AgentConfig;

export function defineConfig(config: AgentConfig): AgentConfig {
  // Checked by hand: this module imports nothing, so that a config loads fast.
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    const got = Array.isArray(config) ? "array" : config === null ? "null" : typeof config;
    throw new TypeError(`defineConfig: config must be an object, got ${got}.`);
  }
  return config;
}
