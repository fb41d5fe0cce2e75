import { errorMessage, withTimeout } from "@agent/internal";
import type { CallHooks } from "../loop/hooks.js";
import { LazySignal } from "../toolkit/abort.js";
import {
  checkFunction,
  checkObject,
  checkPositive,
  checkText,
  invalidArgument,
} from "../toolkit/hostOptions/checks.js";
import type { BackgroundJobs, Diagnosis, MentionSource, PackCommand, PackServices } from "./packServices.js";

const LOAD_GRACE_MS = 5000;

/** Tools that a pack announced and that are still loading, or failed to load. */
export interface PendingTools {
  /** What is loaded: `tools of the server "docs"`. */
  readonly description: string;
  /** The reason they failed to load. Absent while they load. */
  readonly problem?: string;
}

/** Tools that are loading, or failed to. */
interface Loading {
  readonly description: string;
  problem?: string;
  done: Promise<void>;
}

/** The services of all packs of one registry, and the tools that are still loading. */
export class PackServiceList {
  readonly #services: PackServices[] = [];
  /** Those with a warm-up that was not called yet. */
  readonly #cold: PackServices[] = [];
  readonly #pending: Loading[] = [];
  // Created with the first of them: most agents have none, and a program may hold thousands.
  #refreshers: (() => void)[] | undefined;
  readonly #ended = new LazySignal();

  /** Throws `invalid_argument` for invalid services. Services added after disposal are disposed of at once. */
  add(services: PackServices): void {
    if (services.hooks !== undefined) checkCallHooks("services.hooks", services.hooks);
    if (services.dispose !== undefined) checkFunction("services.dispose", services.dispose);
    if (services.diagnose !== undefined) checkFunction("services.diagnose", services.diagnose);
    if (services.terminate !== undefined) checkFunction("services.terminate", services.terminate);
    if (services.runsOnly !== undefined) checkFunction("services.runsOnly", services.runsOnly);
    if (services.mayRun !== undefined) checkFunction("services.mayRun", services.mayRun);
    if (services.ruleWords !== undefined) checkFunction("services.ruleWords", services.ruleWords);
    if (services.warmUp !== undefined) checkFunction("services.warmUp", services.warmUp);
    this.#services.push(services);
    if (services.warmUp) this.#cold.push(services);
    if (this.#ended.aborted) this.dispose().catch(() => undefined);
  }

  /** Starts loading tools and keeps track of it. A failure stays listed with its reason. */
  load(description: string, load: (signal: AbortSignal) => Promise<void>): void {
    if (this.#ended.aborted) return;
    const loading: Loading = { description, done: Promise.resolve() };
    loading.done = loading.done
      .then(() => load(this.#ended.signal))
      .then(
        () => void this.#pending.splice(this.#pending.indexOf(loading), 1),
        (error: unknown) => {
          loading.problem = errorMessage(error);
        },
      );
    this.#pending.push(loading);
  }

  /** The tools that are still loading, and those that failed to load. */
  pending(): PendingTools[] {
    return this.#pending.map(({ done: _, ...about }) => about);
  }

  /** Resolves once nothing is loading any more. */
  async loaded(): Promise<void> {
    while (this.#pending.some(({ problem }) => problem === undefined)) {
      await Promise.all(this.#pending.map(({ done }) => done));
    }
  }

  /** Waits a bounded time for aborted loads: they may have started a process. */
  async #loadsEnded(): Promise<void> {
    await withTimeout(this.loaded(), LOAD_GRACE_MS, () => undefined);
  }

  /** The background work of all packs as one, also of packs that are added later. */
  get jobs(): BackgroundJobs {
    const sources = () => this.#services.flatMap(({ jobs }) => jobs ?? []);
    const first = async (end: (jobs: BackgroundJobs) => Promise<boolean> | undefined): Promise<boolean> => {
      for (const jobs of sources()) if (await end(jobs)) return true;
      return false;
    };
    return {
      list: () => sources().flatMap((jobs) => jobs.list()),
      end: (id) => first((jobs) => jobs.end(id)),
      endProcess: (pid) => first((jobs) => jobs.endProcess?.(pid)),
      detachProcess: (pid) => first((jobs) => jobs.detachProcess?.(pid)),
    };
  }

  get hooks(): readonly CallHooks[] {
    return this.#services.flatMap(({ hooks }) => hooks ?? []);
  }

  get commands(): readonly PackCommand[] {
    return this.#services.flatMap(({ commands }) => commands ?? []);
  }

  get mentions(): readonly MentionSource[] {
    return this.#services.flatMap(({ mentions }) => mentions ?? []);
  }

  /** Whether no pack objects that a command does more than the words of a rule say. */
  runsOnly(words: readonly string[], command: string): boolean {
    try {
      return this.#services.every((services) => services.runsOnly?.(words, command) !== false);
    } catch {
      return false;
    }
  }

  /** Whether a pack says that a command may turn out to run one that begins with these words. */
  mayRun(words: readonly string[], command: string): boolean {
    try {
      return this.#services.some((services) => services.mayRun?.(words, command) === true);
    } catch {
      return true;
    }
  }

  /** The first words of a command that a rule may be made of, from the first pack that names some. */
  ruleWords(command: string): readonly string[] | undefined {
    for (const services of this.#services) {
      try {
        const words = services.ruleWords?.(command);
        if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
      } catch {
        // A pack that cannot tell offers nothing.
      }
    }
    return undefined;
  }

  /** Lets packs get ready for their first calls; each is asked once. A failure is left to the first call to report. */
  warmUp(): void {
    for (const services of this.#cold.splice(0)) {
      (async () => await services.warmUp?.())().catch(() => undefined);
    }
  }

  /** Calls `refresh` each time packs bring their tools up to date. */
  onRefresh(refresh: () => void): void {
    this.#refreshers ??= [];
    this.#refreshers.push(refresh);
  }

  /** Lets packs bring their tools up to date. A pack that fails keeps what it has. */
  refresh(): void {
    for (const refresh of this.#refreshers ?? []) {
      try {
        refresh();
      } catch {
        // Continue with the next pack, which has its own tools.
      }
    }
  }

  /** The diagnostics of all packs. A pack that fails is listed with its error. */
  async diagnose(): Promise<Diagnosis[]> {
    const found = this.#services.map(async ({ diagnose }) => {
      try {
        return (await diagnose?.()) ?? [];
      } catch (error) {
        return [{ subject: "a pack's own check", ok: false, detail: errorMessage(error) }];
      }
    });
    return (await Promise.all(found)).flat();
  }

  /** Ends at once what the packs started, without waiting: for a process that is about to end. Never throws. */
  terminate(): void {
    for (const { terminate } of this.#services) {
      try {
        terminate?.();
      } catch {
        // Continue with the next pack, which also has work to end.
      }
    }
  }

  /** Ends what the packs started: every pack is asked, also after one has failed. */
  async dispose(): Promise<void> {
    this.#ended.abort();
    this.#cold.length = 0;
    this.#refreshers = undefined;
    await this.#loadsEnded();
    const endings = this.#services.splice(0).map(async ({ dispose }) => await dispose?.());
    const failed = (await Promise.allSettled(endings)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }
}

/** Throws `invalid_argument` unless these are hooks: a misspelt one would let every call pass. */
export function checkCallHooks(where: string, hooks: unknown): void {
  checkObject(where, hooks);
  const { name, timeoutMs, beforeCall, beforeRun, afterCall } = hooks as Partial<
    Record<keyof CallHooks, unknown>
  >;
  checkText(`${where}.name`, name);
  if (timeoutMs !== undefined) checkPositive(`${where}.timeoutMs`, timeoutMs);
  if (beforeCall !== undefined) checkFunction(`${where}.beforeCall`, beforeCall);
  if (beforeRun !== undefined) checkFunction(`${where}.beforeRun`, beforeRun);
  if (afterCall !== undefined) checkFunction(`${where}.afterCall`, afterCall);
  if (beforeCall === undefined && beforeRun === undefined && afterCall === undefined) {
    throw invalidArgument(where, "an object with beforeCall(), beforeRun() or afterCall()", hooks);
  }
}
