import { sep } from "node:path";

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is ASCII
const ASCII = /^[\x00-\x7f]*$/;
// Some file systems (HFS+) take names that differ only in these for the same.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * A path for comparing, with "/" between its names. Case is overlooked: on many disks ".GIT/Hooks" is the
 * same directory, and nowhere is it innocent.
 */
export function fold(path: string): string {
  const plain = sep === "/" ? path : path.replaceAll(sep, "/");
  if (ASCII.test(plain)) return plain.toLowerCase();
  // By way of capitals, which make an "s" of the long one too.
  return plain.replace(IGNORED, "").normalize("NFC").toUpperCase().toLowerCase();
}

/** Whether `path` is `directory` or below it. Both folded. */
export function holds(directory: string, path: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/** Whether the names follow each other in a folded path: "x/.git/hooks/pre-commit" for ".git", "hooks". */
export function isWithin(names: readonly string[], path: string): boolean {
  return names.length > 0 && `${path}/`.includes(`/${names.join("/")}/`);
}

/** As `isWithin`, or the path ends with the first of the names: "x/.git". */
export function isOnTheWay(names: readonly string[], path: string): boolean {
  return isWithin(names, path) || restOfWay(names, path) !== undefined;
}

/** What is left of the names if a folded path ends with the first of them: "hooks" for "x/.git". */
export function restOfWay(names: readonly string[], path: string): string | undefined {
  for (let count = names.length - 1; count > 0; count--) {
    if (path.endsWith(`/${names.slice(0, count).join("/")}`)) return names.slice(count).join("/");
  }
  return undefined;
}
