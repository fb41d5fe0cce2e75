import { dirname } from "node:path";
import { userPackagesDirectory } from "../../process/paths.js";

/**
 * The directories that code is loaded from, besides the command's own: those of the configs in use, which were trusted,
 * and the user's own packages. Never the working directory itself: anyone may have put packages there.
 */
export function trustedDirectories(...configFiles: readonly (string | undefined)[]): string[] {
  const besideConfigs = configFiles.flatMap((file) => (file === undefined ? [] : [dirname(file)]));
  return [...new Set([...besideConfigs, userPackagesDirectory()])];
}
