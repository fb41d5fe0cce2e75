import { type PackHost, SaveSessionContextTool, type ToolContext } from "@agent/core";
import { protectedPaths } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { type LoadedPack, loadPacks, registerPacks } from "./packs/load.js";
import { applySwitches, confirmedTools, type Reasons } from "./packs/switches.js";
import { WatchedRegistry } from "./packs/watchedRegistry.js";

/** The tools of this run, why each is on or off, and which ask first. */
export interface Toolbox {
  readonly registry: WatchedRegistry;
  readonly reasons: Reasons;
  readonly confirm: ReadonlySet<string>;
}

export async function loadSelectedPacks({ settings, projectFile }: LoadedSettings): Promise<LoadedPack[]> {
  return await loadPacks(settings.packs, projectFile);
}

/** Registers the packs' tools and turns them on and off. Problems of single packs are noted on the packs. */
export function createToolbox(
  { settings, keys, access }: LoadedSettings,
  packs: readonly LoadedPack[],
  context: ToolContext,
): Toolbox {
  const registry = new WatchedRegistry({ secrets: keys.values });
  registry.register(new SaveSessionContextTool(context), { source: "@agent/core" });
  const host: PackHost = {
    context,
    protectedPaths: protectedPaths(),
    secretVariables: keys.variables,
    access,
  };
  registerPacks(registry, packs, host);
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
