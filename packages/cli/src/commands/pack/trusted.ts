import { loadLayers } from "../../config/load.js";

/** Whether the person has trusted the project's config as it is now: then its packs run anyway. Never asks. */
export async function isProjectTrusted(directory: string): Promise<boolean> {
  try {
    const { projectFile } = await loadLayers({ cwd: directory, trust: { grant: false }, userConfig: false });
    return projectFile !== undefined;
  } catch {
    // Not trusted, or broken: either way nothing of it is run for a mere list.
    return false;
  }
}
