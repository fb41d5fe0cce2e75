import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { canonicalPath, createPathGuard, type PathGuard, quote } from "@agent/core/toolkit";
import { shownPath, shownPrefix, toSlashes, withSlash } from "../paths.js";
import { emptyTally, type GlobTask, type Tally } from "../protocol.js";
import type { TaskHost } from "../tasks.js";
import { walk } from "../walk.js";
import { scopeOf } from "../walkTask.js";
import { checkGlob } from "./limits.js";
import { createDirectoryTest, fixedEnd, globToRegex } from "./matcher.js";
import { globModules } from "./modules.js";

/** Finds the files that match a glob: fast-glob plans and its matcher decides, the walk is the one of search_text. */
export function* globTask(task: GlobTask, host: TaskHost): Generator<void> {
  checkGlob(task.pattern, "pattern");
  const guard = createPathGuard(task.scope.root);
  const start = guard.resolve(resolve(task.scope.cwd, task.path));
  const info = lstatSync(canonicalPath(start), { throwIfNoEntry: false });
  if (!info?.isDirectory()) {
    throw new Error(`"path" ${quote(task.path)} ${info ? "is not a directory" : "does not exist"}.`);
  }
  const plans = globModules().fastGlob.generateTasks(task.pattern, { dot: true, followSymbolicLinks: false });
  if (plans.length === 0) {
    throw new Error(
      `"pattern" ${quote(task.pattern)} names nothing to find, or only what to leave out. Pass a glob such as **/*.`,
    );
  }
  let paths: string[] = [];
  const tally = emptyTally();
  let seen = 0;
  for (const plan of plans) {
    if (!plan.dynamic) {
      paths.push(...staticFiles(plan.patterns, start, guard));
      continue;
    }
    for (const batch of dynamicFiles(plan, start, guard, task, tally, host)) {
      seen += batch.seen;
      for (const path of batch.paths) paths.push(path);
      yield;
    }
  }
  const prefix = shownPrefix(shownPath(task.path));
  // One plan finds each file once, and in order.
  if (plans.length > 1 || !plans[0]?.dynamic) paths = [...new Set(paths)].sort();
  if (task.order === "newest") sortNewestFirst(paths, start, host);
  const shown = paths
    .slice(0, task.limit)
    .map((path) => (isAbsolute(path) ? path : shownPath(prefix + path)));
  host.post({ kind: "globbed", tally, paths: shown, total: paths.length, seen });
}

/** Patterns without any wildcard: there is nothing to walk. */
function staticFiles(patterns: readonly string[], start: string, guard: PathGuard): string[] {
  return patterns
    .filter((pattern) => {
      const path = guard.resolve(resolve(start, pattern), { follow: false });
      try {
        return lstatSync(path).isFile() && globToRegex(pattern).test(withoutDot(pattern));
      } catch {
        return false;
      }
    })
    .map(withoutDot);
}

function* dynamicFiles(
  plan: { readonly base: string; readonly patterns: readonly string[] },
  start: string,
  guard: PathGuard,
  task: GlobTask,
  tally: Tally,
  host: TaskHost,
): Generator<{ paths: string[]; seen: number }> {
  const base = withSlash(toSlashes(canonicalPath(guard.resolve(resolve(start, plan.base)))));
  const prefix = plan.base === "." ? "" : withoutDot(withSlash(plan.base));
  const tests = plan.patterns.map((pattern) => ({ end: fixedEnd(pattern), whole: globToRegex(pattern) }));
  const enters = createDirectoryTest(plan.patterns);
  let seen = 0;
  const batches = walk({
    base,
    shown: shownPrefix(shownPath(task.path)) + prefix,
    ignore: scopeOf(base.length > 1 ? base.slice(0, -1) : base, task.scope),
    tally,
    wants: (path) => {
      seen++;
      for (const { end, whole } of tests) if (path.endsWith(end) && whole.test(prefix + path)) return true;
      return false;
    },
    enters: enters && ((path) => enters(prefix + path)),
    beat: () => host.beat(0),
  });
  for (const paths of batches) {
    yield { paths: prefix === "" ? paths : paths.map((path) => prefix + path), seen };
    seen = 0;
  }
  yield { paths: [], seen };
}

function sortNewestFirst(paths: string[], start: string, host: TaskHost): void {
  const times = new Map<string, number>();
  for (const path of paths) {
    host.beat(0);
    const info = lstatSync(resolve(start, path), { throwIfNoEntry: false });
    times.set(path, info?.mtimeMs ?? 0);
  }
  paths.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0) || (a < b ? -1 : 1));
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}
