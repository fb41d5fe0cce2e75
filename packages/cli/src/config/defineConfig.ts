import type { AgentConfig } from "./types.js";

/** Returns the config as it is; what it adds is types and completion in an editor. */
export function defineConfig(config: AgentConfig): AgentConfig {
  return config;
}
