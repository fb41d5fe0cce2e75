import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { addUnreadable, emptyTally, type GlobTask } from "../../protocol.js";
import type { Boundary } from "../boundary.js";
import type { TaskHost } from "../tasks.js";
import { GlobPlan, type GlobWalk } from "./plan.js";

/** Finds the files that match a glob, or those in a part of the tree. */
export function* globTask(task: GlobTask, boundary: Boundary, host: TaskHost): Generator<void> {
  const plan = planFor(task, boundary);
  const [only, ...others] = plan.walks;
  // One walk finds each file once, and in order: nothing has to be known about other files.
  const inOrder = others.length === 0 && plan.named.length === 0 && task.query.order === "path";
  if (only && inOrder) yield* findInOrder(task, plan, only, boundary, host);
  else yield* findAll(task, plan, boundary, host);
}

let lastPlan: { readonly search: number; readonly plan: GlobPlan } | undefined;

/** The tasks of one search share the plan. */
function planFor({ search, query }: GlobTask, boundary: Boundary): GlobPlan {
  if (lastPlan?.search !== search) lastPlan = { search, plan: new GlobPlan(query, boundary) };
  return lastPlan.plan;
}

function* findInOrder(
  task: GlobTask,
  plan: GlobPlan,
  walk: GlobWalk,
  boundary: Boundary,
  host: TaskHost,
): Generator<void> {
  const tally = emptyTally();
  const budget = { paths: task.budget, entries: task.maxEntries, found: 0 };
  const lists: string[] = [];
  for (const directory of task.directories) {
    const list: string[] = [];
    if (budget.entries <= 0) list.push(directory);
    else {
      for (const batch of walk.run(directory, {
        budget,
        tally,
        boundary,
        heartbeat: () => host.heartbeat(0),
      })) {
        for (const path of batch) list.push(path.endsWith("/") ? path : plan.shown(walk.prefix + path));
        yield;
      }
    }
    lists.push(list.join("\0"));
  }
  host.post({ kind: "globbed", tally, lists, total: budget.found, hint: plan.hint });
}

/** Where several walks may find the same file, or the order is not that of paths, everything has to be at hand. */
function* findAll({ query }: GlobTask, plan: GlobPlan, boundary: Boundary, host: TaskHost): Generator<void> {
  const tally = emptyTally();
  for (const { path, code } of plan.unreadable) addUnreadable(tally, path, code);
  const found = new Set(plan.named);
  for (const walk of plan.walks) {
    for (const batch of walk.run("", { tally, boundary, heartbeat: () => host.heartbeat(0) })) {
      for (const path of batch) found.add(walk.prefix + path);
      yield;
    }
  }
  const paths = [...found].sort();
  if (query.order === "newest") sortNewestFirst(paths, plan.start, host);
  const list = firstThatFit(paths, query).map((path) => plan.shown(path));
  const { hint } = plan;
  host.post({ kind: "globbed", tally, lists: [list.join("\0")], total: paths.length, hint });
}

function firstThatFit(paths: readonly string[], { limit, maxCharacters }: GlobTask["query"]): string[] {
  let size = 0;
  const end = paths.findIndex((path) => {
    if (size > maxCharacters) return true;
    size += path.length + 1;
    return false;
  });
  return paths.slice(0, end === -1 ? limit : Math.min(limit, end));
}

/** Where nobody may look, files are as old as can be. */
function changedAt(path: string): number {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

function sortNewestFirst(paths: string[], start: string, host: TaskHost): void {
  const times = new Map<string, number>();
  for (const path of paths) {
    host.heartbeat(0);
    times.set(path, changedAt(resolve(start, path)));
  }
  paths.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0) || (a < b ? -1 : 1));
}
