import { resolve } from "node:path";
import { addUnreadable, emptyTally, type GlobTask } from "../../protocol.js";
import type { Boundary } from "../boundary.js";
import type { TaskHost } from "../tasks.js";
import type { GlobPlan, GlobWalk } from "./plan.js";

/** Finds the files that match a glob, or those in a part of the tree. */
export function* globTask(
  task: GlobTask,
  plan: GlobPlan,
  boundary: Boundary,
  host: TaskHost,
): Generator<void> {
  const [only, ...others] = plan.walks;
  // One walk finds each file once and in order, so nothing must be known about other files.
  const inOrder = others.length === 0 && plan.named.length === 0 && task.query.order === "path";
  if (only && inOrder) yield* findInOrder(task, plan, only, boundary, host);
  else yield* findAll(task, plan, boundary, host);
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

interface FoundFile {
  /** From the start of the search. */
  readonly path: string;
  readonly changedAt: number;
}

/** With several walks, or another order than by path, only the first ones so far are kept. */
function* findAll({ query }: GlobTask, plan: GlobPlan, boundary: Boundary, host: TaskHost): Generator<void> {
  const tally = emptyTally();
  for (const { path, code } of plan.unreadable) addUnreadable(tally, path, code);
  const files = new FirstItems<FoundFile>(query.limit, query.order === "newest" ? newestFirst : byPath);
  const seen = new SeenPaths(plan);
  let total = 0;
  const add = (path: string, place: string): void => {
    if (!seen.isNew(path)) return;
    total++;
    files.add({ path, changedAt: query.order === "newest" ? changedAt(place, boundary) : 0 });
  };
  for (const path of plan.named) add(path, resolve(plan.start, path));
  for (const walk of plan.walks) {
    for (const batch of walk.run("", { tally, boundary, heartbeat: () => host.heartbeat(0) })) {
      host.heartbeat(0);
      for (const path of batch) add(walk.prefix + path, walk.base + path);
      yield;
    }
  }
  const list = firstThatFit(files.sorted(), query).map((path) => plan.shown(path));
  const { hint } = plan;
  host.post({ kind: "globbed", tally, lists: [list.join("\0")], total, hint });
}

/** Remembers paths that can be found twice: named ones, and those in overlapping walks. */
class SeenPaths {
  readonly #paths = new Set<string>();
  readonly #inner: readonly string[];

  constructor({ named, walks }: GlobPlan) {
    const prefixes = walks.map((walk) => walk.prefix);
    const isInner = (prefix: string, index: number): boolean =>
      prefixes.some((other, place) => place !== index && prefix.startsWith(other));
    this.#inner = [...prefixes.filter(isInner), ...named];
  }

  isNew(path: string): boolean {
    if (!this.#inner.some((inner) => path.startsWith(inner))) return true;
    if (this.#paths.has(path)) return false;
    this.#paths.add(path);
    return true;
  }
}

function byPath(a: FoundFile, b: FoundFile): number {
  return a.path < b.path ? -1 : 1;
}

function newestFirst(a: FoundFile, b: FoundFile): number {
  return b.changedAt - a.changedAt || byPath(a, b);
}

function firstThatFit(files: readonly FoundFile[], { maxCharacters }: GlobTask["query"]): string[] {
  let size = 0;
  const end = files.findIndex(({ path }) => {
    if (size > maxCharacters) return true;
    size += path.length + 1;
    return false;
  });
  return files.slice(0, end === -1 ? files.length : end).map(({ path }) => path);
}

/** A file that cannot be accessed counts as the oldest. */
function changedAt(place: string, boundary: Boundary): number {
  try {
    return boundary.lookAt(place).mtimeMs;
  } catch {
    return 0;
  }
}

/** Keeps the first `limit` of any number of items, in the order of `compare`, with memory for twice as many. */
export class FirstItems<Item> {
  #items: Item[] = [];

  readonly #limit: number;
  readonly #compare: (a: Item, b: Item) => number;

  constructor(limit: number, compare: (a: Item, b: Item) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  add(item: Item): void {
    if (this.#items.push(item) >= 2 * this.#limit + 1) this.#items = this.sorted();
  }

  sorted(): Item[] {
    return this.#items.sort(this.#compare).slice(0, this.#limit);
  }
}
