import { escapeToLine } from "@agent/core/toolkit";
import { askYesNo, canAsk } from "./ask.js";
import { type ConfigLayer, mergeLayers, type Settings } from "./config/layers.js";
import { type LoadedLayers, loadLayers } from "./config/load.js";
import type { AskTrust } from "./config/trust.js";
import { flagLayers, type SettingsFlags } from "./flags.js";
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
    trust: { grant: flags.trust ?? false, ...(canAsk() && { ask: askForTrust }) },
  });
  const fromFlags = flagLayers(flags);
  return {
    settings: mergeLayers(loaded.layers, fromFlags, flags.agent),
    layers: [...loaded.layers, ...fromFlags],
    projectFile: loaded.projectFile,
  };
}

const askForTrust: AskTrust = async ({ file, untrusted, changed }) => {
  // Each path on one line of its own: a newline in a name must not write a line of this question.
  const others = untrusted.filter((path) => path !== file).map(escapeToLine);
  const lines = [
    changed
      ? `${escapeToLine(file)} has changed since you trusted it.`
      : `This project brings a config you have not trusted: ${escapeToLine(file)}`,
    ...others.map((path) => `  it also loads ${path}`),
    "A config is code and runs with your rights.",
    "Trust it as it is now? (No runs without it.)",
  ];
  return await askYesNo(lines.join("\n"));
};
