import type { AgentConfig, PackReference } from "./types.js";

/**
 * Returns the config as it is; what it adds is types and completion in an editor, also for options and tools of the packs
 * in it.
 */
export function defineConfig<const Packs extends readonly PackReference[] = readonly []>(
  config: AgentConfig<Packs>,
): AgentConfig;
export function defineConfig(config: AgentConfig): AgentConfig {
  // Checked by hand: a config is loaded first, so this module must not import anything.
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    const got = Array.isArray(config) ? "array" : config === null ? "null" : typeof config;
    throw new TypeError(`defineConfig: config must be an object, got ${got}.`);
  }
  return config;
}
