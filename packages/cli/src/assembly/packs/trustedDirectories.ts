import { dirname } from "node:path";
import { userPackagesDirectory } from "../../process/paths.js";

/**
 * Where code may come from besides the command itself: beside the configs that are in use, which were trusted, and the
 * person's own packages. Never the working directory as such: anybody may have put packages there.
 */
export function trustedDirectories(...configFiles: readonly (string | undefined)[]): string[] {
  const besideConfigs = configFiles.flatMap((file) => (file === undefined ? [] : [dirname(file)]));
  return [...new Set([...besideConfigs, userPackagesDirectory()])];
}
