import type { GlobLibraries } from "./libraries.js";
import { checkGlob } from "./limits.js";
import { expandBraces, globToRegex } from "./matcher.js";

/**
 * The `glob` filter of a text search. Without a slash it is compared with the file's name; with one, with the displayed
 * path or the path from the searched directory, whichever matches. A leading `!` negates it.
 */
export function createGlobFilter(
  glob: string,
  libraries: GlobLibraries,
): (shown: string, path: string, name: string) => boolean {
  checkGlob(glob, "glob");
  const negated = glob.startsWith("!") && glob[1] !== "(";
  const patterns = expandBraces(negated ? glob.slice(1) : glob, libraries).map((pattern) => {
    const expression = globToRegex(pattern.replace(/^\.\//, ""), libraries);
    return { expression, byName: !pattern.includes("/") };
  });
  return (shown, path, name) => {
    const found = patterns.some(({ expression, byName }) =>
      byName ? expression.test(name) : expression.test(path) || expression.test(shown),
    );
    return found !== negated;
  };
}
