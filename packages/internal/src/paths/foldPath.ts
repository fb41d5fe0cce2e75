// biome-ignore lint/suspicious/noControlCharactersInRegex: matches every ASCII character
const ASCII = /^[\x00-\x7f]*$/;
// Some file systems (HFS+) treat names that differ only in these as the same.
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Normalises a path for comparison, with "/" as the separator. Ignores case, composition and invisible characters: on
 * many disks ".GIT/Hooks" is ".git/hooks", and it is suspicious everywhere.
 *
 * @example
 * ```ts
 * import { foldPath } from "@agent/core/toolkit";
 *
 * console.log(foldPath(".GIT/Hooks")); // .git/hooks
 * ```
 */
export function foldPath(path: string): string {
  const plain = process.platform === "win32" ? path.replaceAll("\\", "/") : path;
  if (ASCII.test(plain)) return plain.toLowerCase();
  // Through upper case, which also maps the long s (U+017F) to "s".
  return plain.replace(IGNORED, "").normalize("NFC").toUpperCase().toLowerCase();
}
