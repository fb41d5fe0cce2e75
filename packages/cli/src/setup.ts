import { SaveSessionContextTool, type ToolContext } from "@agent/core";
import { askYesNo, canAsk } from "./ask.js";
import { type ConfigLayer, mergeLayers, type Settings } from "./config/layers.js";
import { type LoadedLayers, loadLayers } from "./config/load.js";
import type { AskTrust } from "./config/trust.js";
import { flagLayers, type SettingsFlags } from "./flags.js";
import { type LoadedPack, loadPacks, registerPacks } from "./packs/load.js";
import { applySwitches, confirmedTools, type Reasons } from "./packs/switches.js";
import { WatchedRegistry } from "./packs/watchedRegistry.js";
import { enterDirectory } from "./workingDirectory.js";

/** The settings of this run and every layer they come from. */
export interface LoadedSettings {
  readonly settings: Settings;
  readonly layers: readonly ConfigLayer[];
  readonly projectFile: string | undefined;
}

/** The tools of this run, why each is on or off, and what went wrong with a pack. */
export interface Toolbox {
  readonly registry: WatchedRegistry;
  readonly reasons: Reasons;
  readonly confirm: ReadonlySet<string>;
}

/** Goes to the working directory and loads the settings. */
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

export async function loadSelectedPacks({ settings, projectFile }: LoadedSettings): Promise<LoadedPack[]> {
  return await loadPacks(settings.packs, projectFile);
}

/** Registers the packs' tools and turns them on and off. Problems of single packs are noted on the packs. */
export function createToolbox(
  settings: Settings,
  packs: readonly LoadedPack[],
  context: ToolContext,
): Toolbox {
  const registry = new WatchedRegistry();
  registry.register(new SaveSessionContextTool(context), { source: "@agent/core" });
  registerPacks(registry, packs, context);
  // With a broken pack an unknown name may well be one of its tools: that is not a second error.
  const tolerant = packs.some(({ problem }) => problem !== undefined);
  return {
    registry,
    reasons: applySwitches(registry, settings, tolerant),
    confirm: confirmedTools(registry, settings, tolerant),
  };
}

/** A context for commands that run tools without a conversation. */
export const NO_CONVERSATION: ToolContext = {
  systemPrompt: "",
  sessionContext: [],
  sessionContextFilePath: "agent-session.json",
};

export function packProblems(packs: readonly LoadedPack[]): string[] {
  return packs.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
}

const askForTrust: AskTrust = async ({ file, untrusted, changed }) => {
  const others = untrusted.filter((path) => path !== file);
  const lines = [
    changed
      ? `${file} has changed since you trusted it.`
      : `This project brings a config you have not trusted: ${file}`,
    ...others.map((path) => `  it also loads ${path}`),
    "A config is code and runs with your rights.",
    "Trust it as it is now? (No runs without it.)",
  ];
  return await askYesNo(lines.join("\n"));
};
