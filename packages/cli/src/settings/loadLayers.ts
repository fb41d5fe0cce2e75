import { findUserConfig, hasPlace, stopDirectory } from "./config/places.js";
import { environmentLayers } from "./environment.js";
import type { ConfigLayer } from "./layers.js";
import type { TrustPolicy } from "./trust/trust.js";

export interface LoadOptions {
  readonly cwd: string;
  /** `--config`: this file instead of the project's. A file that the user names is trusted. */
  readonly file?: string;
  /** `--no-config`: neither the project's config nor the user's own. */
  readonly none?: boolean;
  readonly trust: TrustPolicy;
  /** `false` excludes the user's own config. */
  readonly userConfig?: boolean;
}

/** The layers below the flags: the user's own config, the project's, the environment. */
export interface LoadedLayers {
  readonly layers: readonly ConfigLayer[];
  /** The project's config file, if it is in use. */
  readonly projectFile: string | undefined;
}

/** Finds, checks and runs the config files. Throws a `CliError` with one message for any problem. */
export async function loadLayers(options: LoadOptions): Promise<LoadedLayers> {
  if (!mayHaveConfig(options)) return { layers: environmentLayers(), projectFile: undefined };
  // Many directories have no config, and the code that reads and trusts one is a quarter of what a task loads.
  const { loadConfigLayers } = await import("./configLayers.js");
  const { layers, projectFile } = await loadConfigLayers(options);
  return { layers: [...layers, ...environmentLayers()], projectFile };
}

function mayHaveConfig({ none, file, userConfig, cwd }: LoadOptions): boolean {
  if (none) return false;
  if (file !== undefined || (userConfig !== false && findUserConfig() !== undefined)) return true;
  return hasPlace(cwd, stopDirectory(cwd));
}
