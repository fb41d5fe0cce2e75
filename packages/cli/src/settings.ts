import { type ConfigLayer, mergeLayers, type Settings } from "./config/layers.js";
import { type LoadedLayers, loadLayers } from "./config/load.js";
import { flagLayers, type SettingsFlags } from "./flags.js";
import { trustPolicy } from "./trustQuestion.js";
import { enterDirectory } from "./workingDirectory.js";

/** The settings of this run and every layer they come from. */
export interface LoadedSettings {
  readonly settings: Settings;
  readonly layers: readonly ConfigLayer[];
  readonly projectFile: string | undefined;
}

/** Goes to the working directory and loads the settings. Apart from the tools, which the first prompt need not wait for. */
export async function loadSettings(flags: SettingsFlags): Promise<LoadedSettings> {
  enterDirectory(flags.cwd);
  const loaded: LoadedLayers = await loadLayers({
    cwd: process.cwd(),
    none: flags.config === false,
    ...(typeof flags.config === "string" && { file: flags.config }),
    trust: trustPolicy(flags.trust ?? false),
  });
  const fromFlags = flagLayers(flags);
  return {
    settings: mergeLayers(loaded.layers, fromFlags, flags.agent),
    layers: [...loaded.layers, ...fromFlags],
    projectFile: loaded.projectFile,
  };
}
