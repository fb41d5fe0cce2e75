import { Conversation, type HostData } from "@agent/core";
import { terminateOnSignals } from "@agent/core/host";
import { withTimeout } from "@agent/internal";
import type { SettingsFlags } from "../settings/flags.js";
import { type LoadedSettings, loadSettings } from "../settings/loadSettings.js";
import { type AssembledTools, assembleTools, loadSelectedPacks, packProblems } from "./assembleTools.js";
import type { LoadedPack } from "./packs/load.js";

// How long to wait for tools that load late: a server may never answer.
const LATE_TOOLS_LIMIT_MS = 15_000;

/** Tools without a conversation, for commands that list or run them. */
export interface ToolsInUse extends AssembledTools {
  readonly loaded: LoadedSettings;
  readonly packs: readonly LoadedPack[];
  /** Problems of single packs, and tools that did not load. */
  readonly problems: readonly string[];
}

/**
 * Loads settings and packs, waits for late tools, calls `use`, and disposes of the packs. `forPacks`: the host's
 * services for packs. Default: none, so commands run without a sandbox.
 */
export async function withTools<T>(
  flags: SettingsFlags,
  use: (tools: ToolsInUse) => T | Promise<T>,
  forPacks?: (loaded: LoadedSettings) => HostData,
): Promise<T> {
  const loaded = await loadSettings(flags);
  const packs = await loadSelectedPacks(loaded);
  const tools = assembleTools(loaded, packs, new Conversation(), forPacks?.(loaded));
  const { services } = tools.registry;
  const releaseSignals = terminateOnSignals(services);
  try {
    await withTimeout(services.loaded(), LATE_TOOLS_LIMIT_MS, () => undefined);
    const late = services
      .pending()
      .map(({ description, problem }) => `${description}: ${problem ?? "still not there"}`);
    return await use({ ...tools, loaded, packs, problems: [...packProblems(packs), ...late] });
  } finally {
    await tools.registry.dispose();
    releaseSignals();
  }
}
