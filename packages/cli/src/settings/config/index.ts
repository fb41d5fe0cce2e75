/** The light sub-path `@agent/cli/config`: types and `defineConfig`; the loader is loaded when it is called. */
export { defineConfig } from "./defineConfig.js";
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
