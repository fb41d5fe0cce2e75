import { existsSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import type { AccessNeed, AccessRules, ToolCall } from "@agent/core";
import {
  createPathGuard,
  optionalBoolean,
  optionalInteger,
  type PathGuard,
  quote,
} from "@agent/core/toolkit";
import { canonicalPath, findAccessNeed, isInside } from "@agent/internal";
import { checkedOptions, MAX_RESULTS, type SearchOptions } from "./options.js";
import type { Scope } from "./protocol.js";

/** The registry's deadline is only a safety net behind the pack's own. */
const REGISTRY_GRACE_MS = 15_000;

/** The capabilities of both tools; frozen, so that all instances and their registries share one list. */
export const READS = Object.freeze(["read"] as const);

/** The settings of both tools: the pack's options with their defaults. */
export interface Settings {
  /** Confines every search; absolute and canonical. */
  readonly root: string | undefined;
  readonly maxResults: number;
  readonly maxLineLength: number;
  readonly timeoutMs: number;
  /** When the registry gives up on a call. */
  readonly deadlineMs: number;
  readonly workers: number | undefined;
  readonly autoContext: boolean;
  /** Canonical files and directories that are read only after a person's yes. */
  readonly secret: readonly string[];
}

/** Throws on an unknown or mistyped option, and if `root` does not exist. */
export function settingsOf(given: SearchOptions | undefined, access: AccessRules | undefined): Settings {
  const options = checkedOptions(given);
  const timeoutMs = options.timeoutMs ?? 20_000;
  return {
    root: createPathGuard(options.root).root,
    maxResults: options.maxResults ?? 200,
    maxLineLength: options.maxLineLength ?? 500,
    timeoutMs,
    deadlineMs: timeoutMs + REGISTRY_GRACE_MS,
    workers: options.workers,
    autoContext: options.autoContext ?? false,
    secret: access?.secret ?? [],
  };
}

/** How many results a call asks for. */
export function readMaxResults(args: Record<string, unknown>, { maxResults }: Settings): number {
  return optionalInteger(args, "max_results", maxResults, { min: 1, max: MAX_RESULTS });
}

/** Where a call searches. Throws if `paths` has a relative one and nothing it could be relative to. */
export function readScope(
  args: Record<string, unknown>,
  paths: readonly string[],
  settings: Settings,
  call: ToolCall | undefined,
): Scope {
  return {
    cwd: workingDirectory(paths, settings.root),
    root: settings.root,
    secret: settings.secret,
    granted: (call?.granted ?? []).filter((need) => need.kind === "read").map((need) => need.path),
    includeIgnored: optionalBoolean(args, "include_ignored", false),
  };
}

/** The secret places among these paths, which need a person's yes. One further below is skipped instead. */
export function readNeeds(paths: readonly string[], { root, secret }: Settings): AccessNeed[] {
  if (secret.length === 0) return [];
  const cwd = workingDirectory(paths, root);
  const guard = createPathGuard(root);
  return paths.flatMap((path) => {
    const place = placeOf(path, cwd, guard);
    const need = place === undefined ? undefined : findAccessNeed({ secret }, "read", place);
    return need ?? [];
  });
}

/** The canonical path, or `undefined` for one that the search will refuse. */
function placeOf(path: string, cwd: string, guard: PathGuard): string | undefined {
  try {
    return canonicalPath(guard.resolve(resolve(cwd, path)));
  } catch {
    return undefined;
  }
}

/** Where relative paths start: in the root, unless the process works inside of it. */
function workingDirectory(paths: readonly string[], root: string | undefined): string {
  const cwd = currentDirectory();
  if (root !== undefined && (cwd === undefined || !isInside(root, cwd))) return root;
  if (cwd !== undefined) return cwd;
  const relative = paths.find((path) => !isAbsolute(path));
  if (relative === undefined) return sep;
  throw new Error(
    `${quote(relative)} is relative to the agent's working directory, which no longer exists. Pass an absolute path.`,
  );
}

function currentDirectory(): string | undefined {
  try {
    // Node remembers the directory, also when it is long gone.
    const cwd = process.cwd();
    return existsSync(cwd) ? cwd : undefined;
  } catch {
    return undefined;
  }
}
