import { resolve } from "node:path";
import { canonicalPath, foldPath, matchesName, PROTECTED_FILES } from "@agent/core/toolkit";

/**
 * The effect of a call on a path: `write` creates, changes or replaces a file; `place` moves a directory or symlink
 * there; `takeAway` moves or removes it.
 */
export type ProtectedChange = "write" | "place" | "makeDirectory" | "takeAway";

/** A protected file, or a directory with all its content. */
export interface ProtectionRule {
  /** The rule as written in the option `protect`, for messages. */
  readonly text: string;
  readonly reason: string;
  /** The absolute path of the rule as written, and folded for comparison. */
  readonly path: string;
  readonly folded: string;
  /** Folded names that are protected in every directory; empty for a rule about one path. */
  readonly names: readonly string[];
  /** Exceptions below the rule, folded. */
  readonly except: readonly string[];
}

/** The patterns of all protected files, for a `protect` list with fewer or more of them. */
export const PROTECTED_PATTERNS: readonly string[] = PROTECTED_FILES.map(({ pattern }) => pattern);

const TABLE = new Map(PROTECTED_FILES.map((file) => [file.pattern, file]));

/** Parses a rule: a pattern of the table, or a path relative to `base`. */
export function toRule(text: string, base: string): ProtectionRule {
  const file = TABLE.get(text);
  const path = resolve(base, text);
  return {
    text,
    reason: file?.reason ?? "the user's list names it",
    path,
    folded: foldPath(path),
    names: file === undefined ? [] : text.split("/").map(foldPath),
    except: (file?.except ?? []).map(foldPath),
  };
}

const OF_HOST = { reason: "it belongs to the agent's host", except: [] };

/** Rules for the host's paths. They are resolved again for every change, since a symlink can be replaced. */
export function hostPathRules(paths: readonly string[]): ProtectionRule[] {
  return paths
    .flatMap((path) => [...new Set([resolve(path), reachablePath(path)])])
    .map((path) => ({ ...OF_HOST, text: path, path, folded: foldPath(path), names: [] }));
}

/**
 * The canonical path. A path that this user may not look up is returned unchanged: no tool can change anything there
 * either.
 */
function reachablePath(path: string): string {
  try {
    return canonicalPath(path);
  } catch {
    return resolve(path);
  }
}

/** The rule for a name that the host reserves in every directory. */
export function hostNameRule(text: string, base: string): ProtectionRule {
  return { ...toRule(text, base), ...OF_HOST, names: text.split("/").map(foldPath) };
}

/**
 * Whether a rule forbids a change of a folded path. `place` is the canonical path of the rule, folded. `exists()` tells
 * whether the rule's path exists, `exists(name)` whether `name` exists below the changed path.
 */
export function forbids(
  rule: ProtectionRule,
  change: ProtectedChange,
  path: string,
  place: string,
  exists: (below?: string) => boolean,
): boolean {
  const inside = insideOf(rule, path, place);
  if (inside !== undefined) return !isExcepted(rule, inside, change);
  if (change === "makeDirectory") return false;
  if (holds(path, place) && (change !== "takeAway" || exists())) return true;
  if (change === "takeAway") return takesAlong(rule, path, exists);
  // A file named ".git" redirects git to another directory. A file named ".config" redirects nothing.
  return (change === "place" || rule.names[0] === ".git") && hasPrefix(rule.names, path);
}

function insideOf(rule: ProtectionRule, path: string, place: string): string | undefined {
  if (holds(place, path)) return path.slice(place.length).replace(/^\//, "");
  return segmentsAfter(rule.names, path);
}

function isExcepted({ except }: ProtectionRule, inside: string, change: ProtectedChange): boolean {
  if (except.includes(inside)) return change !== "place";
  // Creating a parent directory of an exception is allowed.
  return change === "makeDirectory" && inside !== "" && except.some((path) => path.startsWith(`${inside}/`));
}

/** Whether moving or removing a directory would also move or remove a protected path below it. */
function takesAlong({ names }: ProtectionRule, path: string, exists: (below?: string) => boolean): boolean {
  const rest = remainingSegments(names, path);
  return rest !== undefined && exists(rest);
}

/** Whether `path` is `directory` or below it. Both folded. */
function holds(directory: string, path: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/**
 * The rest of a folded path after the names: "pre-commit" in "x/.git/hooks/pre-commit" for ".git", "hooks"; "" if the path
 * ends with them, `undefined` if they are not in it. The first occurrence counts. A single name may contain a "*".
 */
function segmentsAfter(names: readonly string[], path: string): string | undefined {
  const [first = ""] = names;
  if (first.includes("*")) return segmentsAfterFamily(first, path);
  if (names.length === 0) return undefined;
  const wanted = `/${names.join("/")}/`;
  const at = `${path}/`.indexOf(wanted);
  return at === -1 ? undefined : path.slice(at + wanted.length);
}

/** Whether the path contains the names, or ends with the first few of them: "x/.git" for ".git", "hooks". */
function hasPrefix(names: readonly string[], path: string): boolean {
  return segmentsAfter(names, path) !== undefined || remainingSegments(names, path) !== undefined;
}

/** If a folded path ends with the first few names, the names that remain: "hooks" for "x/.git". */
function remainingSegments(names: readonly string[], path: string): string | undefined {
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
