import { existsSync } from "node:fs";
import type { AccessRules } from "@agent/core";
import { quotePath } from "@agent/internal";
import type { Aside } from "@agent/terminal/host";
import { atOnce } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import { accessRules } from "./access.js";
import { flagLayers, type SettingsFlags } from "./flags.js";
import { type ConfigLayer, mergeLayers, type Settings } from "./layers.js";
import { type LoadedLayers, loadLayers } from "./loadLayers.js";
import { ProviderKeys } from "./providerKeys.js";
import { trustPolicy } from "./trust/trustQuestion.js";
import { enterDirectory } from "./workingDirectory.js";

/** The settings of this run and every layer they come from. */
export interface LoadedSettings {
  readonly settings: Settings;
  readonly layers: readonly ConfigLayer[];
  readonly projectFile: string | undefined;
  /** The providers' keys, removed from the environment so that no tool finds them there. */
  readonly keys: ProviderKeys;
  readonly access: AccessRules;
}

/**
 * Changes to the working directory and loads the settings. The tools are loaded separately: the first prompt does not
 * wait for them.
 */
export async function loadSettings(flags: SettingsFlags, aside: Aside = atOnce): Promise<LoadedSettings> {
  enterDirectory(flags.cwd);
  const loaded: LoadedLayers = await loadLayers({
    cwd: process.cwd(),
    none: flags.config === false,
    ...(typeof flags.config === "string" && { file: flags.config }),
    trust: trustPolicy(flags.trust ?? false, aside),
  });
  const fromFlags = flagLayers(flags);
  const settings = mergeLayers(loaded.layers, fromFlags, flags.agent);
  for (const path of settings.addDirs) checkAdded(path);
  return {
    settings,
    layers: [...loaded.layers, ...fromFlags],
    projectFile: loaded.projectFile,
    keys: new ProviderKeys(process.env, settings.provider),
    access: accessRules(process.cwd(), settings.addDirs),
  };
}

/**
 * Refuses a missing directory, which is probably misspelt, and a dangling symlink, whose target could be created later.
 */
function checkAdded(path: string): void {
  if (existsSync(path)) return;
  throw new CliError(`${quotePath(path)} (--add-dir, addDirs): there is no such directory.`);
}
