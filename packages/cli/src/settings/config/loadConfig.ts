import type { AgentConfig } from "./types.js";

export interface LoadConfigOptions {
  /** Where the search starts. Default: the working directory. */
  readonly cwd?: string;
  /** Trusts the current config and stores that. Without it, a config that was never trusted is an error. */
  readonly trust?: boolean;
}

/** A project's config and the file it came from. */
export interface LoadedConfig {
  readonly file: string;
  readonly config: AgentConfig;
}

/**
 * Finds and loads the project's config like the `agent` command, with the same checks. Resolves to `undefined` if there
 * is none; rejects with one message for any problem.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig | undefined> {
  const { check, checkOptions } = await import("@agent/core/toolkit");
  checkOptions("loadConfig", options, { cwd: check.text, trust: check.boolean });
  const { loadLayers } = await import("../loadLayers.js");
  const { layers } = await loadLayers({
    cwd: options.cwd ?? process.cwd(),
    trust: { grant: options.trust ?? false },
    userConfig: false,
  });
  const project = layers.find(({ source }) => source !== undefined);
  return project?.source && { file: project.source.file, config: project.config };
}
