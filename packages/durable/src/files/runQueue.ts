import type { RunSummary } from "../engine/run.js";

/** Which runs a worker can claim. */
export interface WorkerFilter {
  readonly definitions: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

/**
 * Runs of one tenant with the same requirements: a worker that can claim one can claim all. First come, first served.
 */
interface Group {
  readonly definition: string;
  readonly labels: readonly string[];
  readonly priority: number;
  /** Runs that have begun come first: people already wait for their results. */
  readonly resumed: boolean;
  readonly ids: Set<string>;
}

/**
 * The runs that wait for a worker. Tenants take turns, so that one with many runs does not delay others; the cost of a
 * choice grows with tenants and kinds of runs, not with runs.
 */
export class RunQueue {
  readonly #tenants = new Map<string, Map<string, Group>>();
  readonly #places = new Map<string, Group>();
  readonly #running = new Map<string, number>();
  readonly #served = new Map<string, number>();
  #turn = 0;

  add({ id, tenant, definition, labels, priority }: RunSummary, resumed: boolean): void {
    const key = JSON.stringify([definition, labels, priority, resumed]);
    const groups = this.#tenants.get(tenant) ?? new Map<string, Group>();
    this.#tenants.set(tenant, groups);
    const group = groups.get(key) ?? { definition, labels, priority, resumed, ids: new Set() };
    groups.set(key, group);
    group.ids.add(id);
    this.#places.set(id, group);
  }

  remove({ id, tenant }: RunSummary): void {
    const group = this.#places.get(id);
    if (!group) return;
    this.#places.delete(id);
    group.ids.delete(id);
    if (group.ids.size > 0) return;
    const groups = this.#tenants.get(tenant);
    for (const [key, one] of groups ?? []) if (one === group) groups?.delete(key);
    if (groups?.size === 0) this.#tenants.delete(tenant);
  }

  isResumed(id: string): boolean {
    return this.#places.get(id)?.resumed ?? false;
  }

  running(tenant: string): number {
    return this.#running.get(tenant) ?? 0;
  }

  countStarted(tenant: string): void {
    this.#running.set(tenant, this.running(tenant) + 1);
    this.#served.set(tenant, ++this.#turn);
  }

  countStopped(tenant: string): void {
    const left = this.running(tenant) - 1;
    if (left > 0) this.#running.set(tenant, left);
    else this.#running.delete(tenant);
  }

  /** The next run for such a worker: of the tenant with the fewest running, then of the one served longest ago. */
  next(filter: WorkerFilter, mayRun: (tenant: string) => boolean): string | undefined {
    let best: { readonly group: Group; readonly running: number; readonly served: number } | undefined;
    for (const [tenant, groups] of this.#tenants) {
      const running = this.running(tenant);
      const served = this.#served.get(tenant) ?? 0;
      const isBetter = !best || running < best.running || (running === best.running && served < best.served);
      if (!isBetter || !mayRun(tenant)) continue;
      const group = bestGroup(groups.values(), filter);
      if (group) best = { group, running, served };
    }
    return best?.group.ids.values().next().value;
  }
}

function bestGroup(groups: Iterable<Group>, { definitions, labels }: WorkerFilter): Group | undefined {
  let best: Group | undefined;
  for (const group of groups) {
    if (!definitions.has(group.definition) || !group.labels.every((label) => labels.has(label))) continue;
    const isBetter =
      !best ||
      group.priority > best.priority ||
      (group.priority === best.priority && group.resumed && !best.resumed);
    if (isBetter) best = group;
  }
  return best;
}
