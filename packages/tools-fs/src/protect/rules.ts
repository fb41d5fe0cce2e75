import { resolve } from "node:path";
import { canonicalPath, foldPath, PROTECTED_FILES } from "@agent/internal";
import { hasPrefix, holds, remainingSegments, segmentsAfter } from "./names.js";

/**
 * The effect of a call on a path: `write` creates, changes or replaces a file; `place` puts a directory or a link there that was
 * made elsewhere; `takeAway` moves or removes what is there.
 */
export type Change = "write" | "place" | "makeDirectory" | "takeAway";

/** A file, or a directory with all it holds, that is not to be changed. */
export interface Rule {
  /** The rule as the user knows it. */
  readonly text: string;
  readonly reason: string;
  /** The absolute path the rule means, as written, and folded for comparing. */
  readonly path: string;
  readonly folded: string;
  /** Folded names that are protected in every directory; empty for a rule that means one path. */
  readonly names: readonly string[];
  /** Exceptions below the rule, folded. */
  readonly except: readonly string[];
}

/** The patterns of all protected files, for a `protect` list with fewer or more of them. */
export const PROTECTED_PATTERNS: readonly string[] = PROTECTED_FILES.map(({ pattern }) => pattern);

const TABLE = new Map(PROTECTED_FILES.map((file) => [file.pattern, file]));

/** The rule that a pattern of the table, or a path relative to `base`, means. */
export function toRule(text: string, base: string): Rule {
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

/** Rules for the paths of the host. They are resolved anew for every change: a link can be replaced. */
export function hostPathRules(paths: readonly string[]): Rule[] {
  return paths
    .flatMap((path) => [...new Set([resolve(path), canonicalPath(path)])])
    .map((path) => ({ ...OF_HOST, text: path, path, folded: foldPath(path), names: [] }));
}

/** The rule for a name that the host keeps for itself in every directory. */
export function hostNameRule(text: string, base: string): Rule {
  return { ...toRule(text, base), ...OF_HOST, names: text.split("/").map(foldPath) };
}

/**
 * Whether a rule forbids a change of a folded path. `place` is where the rule's own path leads, folded; `exists` tells
 * whether something is there, or below the changed path by a relative name.
 */
export function forbids(
  rule: Rule,
  change: Change,
  path: string,
  place: string,
  exists: (below?: string) => boolean,
): boolean {
  const inside = insideOf(rule, path, place);
  if (inside !== undefined) return !isExcepted(rule, inside, change);
  if (change === "makeDirectory") return false;
  if (holds(path, place) && (change !== "takeAway" || exists())) return true;
  if (change === "takeAway") return takesAlong(rule, path, exists);
  // A file in place of git's directory redirects what lies below; ".config", say, is a file of its own then.
  return (change === "place" || rule.names[0] === ".git") && hasPrefix(rule.names, path);
}

function insideOf(rule: Rule, path: string, place: string): string | undefined {
  if (holds(place, path)) return path.slice(place.length).replace(/^\//, "");
  return segmentsAfter(rule.names, path);
}

function isExcepted({ except }: Rule, inside: string, change: Change): boolean {
  if (except.includes(inside)) return change !== "place";
  // A directory that only leads to an exception.
  return change === "makeDirectory" && inside !== "" && except.some((path) => path.startsWith(`${inside}/`));
}

/** Whether a directory on the way to a protected path (".git", wherever it stands) would go with it. */
function takesAlong({ names }: Rule, path: string, exists: (below?: string) => boolean): boolean {
  const rest = remainingSegments(names, path);
  return rest !== undefined && exists(rest);
}
