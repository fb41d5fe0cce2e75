import { matchesName } from "@agent/core/toolkit";

/** Whether `path` is `directory` or below it. Both folded. */
export function holds(directory: string, path: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/**
 * The rest of a folded path after the names: "pre-commit" in "x/.git/hooks/pre-commit" for ".git", "hooks"; "" if the path
 * ends with them, `undefined` if they are not in it. The first occurrence counts. A single name may contain a "*".
 */
export function segmentsAfter(names: readonly string[], path: string): string | undefined {
  const [first = ""] = names;
  if (first.includes("*")) return segmentsAfterFamily(first, path);
  if (names.length === 0) return undefined;
  const wanted = `/${names.join("/")}/`;
  const at = `${path}/`.indexOf(wanted);
  return at === -1 ? undefined : path.slice(at + wanted.length);
}

/** Whether the path contains the names, or ends with the first few of them: "x/.git" for ".git", "hooks". */
export function hasPrefix(names: readonly string[], path: string): boolean {
  return segmentsAfter(names, path) !== undefined || remainingSegments(names, path) !== undefined;
}

/** If a folded path ends with the first few names, the names that remain: "hooks" for "x/.git". */
export function remainingSegments(names: readonly string[], path: string): string | undefined {
  for (let count = names.length - 1; count > 0; count--) {
    if (path.endsWith(`/${names.slice(0, count).join("/")}`)) return names.slice(count).join("/");
  }
  return undefined;
}

function segmentsAfterFamily(pattern: string, path: string): string | undefined {
  const segments = path.split("/");
  const index = segments.findIndex((segment) => matchesName(pattern, segment));
  return index === -1 ? undefined : segments.slice(index + 1).join("/");
}
