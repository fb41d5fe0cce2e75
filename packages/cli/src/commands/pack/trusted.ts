import { realpathSync } from "node:fs";
import { loadLayers } from "../../settings/loadLayers.js";
import { isInstalled } from "../../settings/modules/resolveModule.js";
import { ProjectFiles } from "../../settings/trust/projectFiles.js";
import { isTrusted } from "../../settings/trust/trust.js";

/** Whether the user has trusted the project's current config: then its packs run anyway. Never asks. */
export async function isProjectTrusted(directory: string): Promise<boolean> {
  try {
    const { projectFile } = await loadLayers({ cwd: directory, trust: { grant: false }, userConfig: false });
    return projectFile !== undefined;
  } catch {
    // Not trusted, or broken: either way its code is not run just for a list.
    return false;
  }
}

/** The files that run when a pack is loaded by its entry. */
export function packFiles(entry: string): ProjectFiles {
  const files = new ProjectFiles(entry);
  files.add(entry);
  return files;
}

/**
 * Whether a pack of a trusted project may be loaded just to list its tools: an installed pack may; a pack linked into
 * the project only in the version that `agent pack check` was trusted with.
 */
export function isPackTrusted(entry: string, directory: string): boolean {
  try {
    const file = realpathSync(entry);
    return isInstalled(file, directory) || isTrusted(file, packFiles(file));
  } catch {
    return false;
  }
}
