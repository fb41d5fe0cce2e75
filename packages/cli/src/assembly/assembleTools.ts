import { dirname, join } from "node:path";
import { createToolRegistry, type HostData, type ToolContext, type ToolRegistry } from "@agent/core";
import { isInside } from "@agent/internal";
import { stateDirectory } from "../process/paths.js";
import { projectStorage } from "../sessions/sessions.js";
import { protectedNames, protectedPaths } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { type LoadedPack, loadPacks, registerPacks } from "./packs/load.js";
import { type PackSecret, PackSecrets } from "./packs/secrets.js";
import { switchTools } from "./packs/switches.js";

/** How the user can run commands without a sandbox. */
export const SANDBOX_OPT_OUT = "--no-sandbox, or sandbox: false in the config";

/**
 * The tools of this run, why each is enabled or disabled, and which ask first. All three grow when tools are registered
 * later.
 */
export interface AssembledTools {
  readonly registry: ToolRegistry;
  readonly reasons: ReadonlyMap<string, string>;
  /** The tools that the settings turn on. */
  readonly on: ReadonlySet<string>;
  readonly confirm: ReadonlySet<string>;
  /** Registers another version of a pack. */
  readonly registerPack: (pack: LoadedPack) => void;
  /** The secrets that packs declare. */
  readonly secrets: readonly PackSecret[];
}

export async function loadSelectedPacks({ settings, projectFile }: LoadedSettings): Promise<LoadedPack[]> {
  return await loadPacks(settings.packs, projectFile);
}

/** Registers the packs' tools and enables or disables them. Problems of single packs are stored with the packs. */
export function assembleTools(
  { settings, keys, access, projectFile }: LoadedSettings,
  packs: readonly LoadedPack[],
  context: ToolContext,
  forPacks: HostData = {},
): AssembledTools {
  const secrets = new PackSecrets(keys);
  secrets.take(packs);
  const registry = createToolRegistry(context, [], {
    secrets: () => secrets.values,
    claimSecrets: (pack, variables) => secrets.claim(pack, variables),
    directories: { project: projectStorage(process.cwd()), user: join(stateDirectory(), "packs") },
    readOnly: settings.readOnly,
  });
  const host = {
    context,
    protectedPaths: protectedPaths(),
    protectedNames: protectedNames(),
    secretVariables: secrets.variables,
    access,
    // The config was trusted, and with it its project.
    trusted: projectFile !== undefined && isInside(dirname(projectFile), process.cwd()),
    ...forPacks,
  };
  registerPacks(registry, packs, host);
  // Do not report an unknown name if a pack is broken: it may be one of that pack's tools.
  const isIncomplete =
    packs.some(({ problem }) => problem !== undefined) || registry.services.pending().length > 0;
  return {
    registry,
    registerPack: (pack) => registerPacks(registry, [pack], host),
    secrets: secrets.declared,
    ...switchTools(registry, settings, { tolerant: isIncomplete }),
  };
}

export function packProblems(packs: readonly LoadedPack[]): string[] {
  return packs.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
}
