import { errorMessage, isRecord, quote, withTimeout } from "@agent/internal";
import type { CallHooks } from "../loop/hooks.js";
import { LazySignal } from "../toolkit/abort.js";
import {
  arrayOf,
  checkFunction,
  checkObject,
  checkPositive,
  checkText,
  invalidArgument,
} from "../toolkit/hostOptions/checks.js";
import type {
  BackgroundJobs,
  Diagnosis,
  MentionSource,
  PackAgent,
  PackCommand,
  PackServices,
  PackSkill,
} from "./pack.js";

const NOTHING: readonly never[] = [];
const LOAD_GRACE_MS = 5000;
const MAX_PROMPT_TOKENS = 2000;
const CHARACTERS_PER_TOKEN = 4;
const NAME = /^[a-z][\w-]{0,63}$/i;
const COMMAND_NAME = /^[\w:-]{1,128}$/;

/** A section that a pack adds to the system prompt. */
export interface PromptSection {
  /** The name of the pack. */
  readonly source: string;
  readonly title: string;
  readonly text: string;
  /** About how many tokens it takes. */
  readonly tokens: number;
  /** Whether the text was longer than the limit. */
  readonly isCut?: true;
}

/** Tools that a pack announced and that are still loading, or failed to load. */
export interface PendingTools {
  /** What is being loaded: `tools of the server "docs"`. */
  readonly description: string;
  /** The reason they failed to load. Absent while they load. */
  readonly problem?: string;
}

/** Tools that are loading or failed to load. */
interface Loading {
  readonly description: string;
  problem?: string;
  done: Promise<void>;
}

/** The services of one pack. */
interface Provided {
  readonly services: PackServices;
  readonly source: string;
  /** Whether its warm-up was not called yet. */
  isCold: boolean;
}

/** The services of all packs of one registry, and the tools that are still loading. */
export class PackServiceList {
  // Replaced, not extended: an array that is pushed to reserves room, and a program may hold thousands of idle agents.
  #provided: readonly Provided[] = [];
  #refreshers: readonly (() => void)[] = [];
  #pending: readonly Loading[] = NOTHING;
  readonly #ended = new LazySignal();

  /** Throws `invalid_argument` for invalid services. Services added after disposal are disposed of immediately. */
  add(services: PackServices, source = "a pack"): void {
    checkServices(services);
    this.#provided = [...this.#provided, { services, source, isCold: true }];
    if (this.#ended.aborted) this.dispose().catch(() => undefined);
  }

  /** Starts loading tools and keeps track of it. A failure stays listed with its reason. */
  load(description: string, load: (signal: AbortSignal) => Promise<void>): void {
    if (this.#ended.aborted) return;
    const loading: Loading = { description, done: Promise.resolve() };
    loading.done = loading.done
      .then(() => load(this.#ended.signal))
      .then(
        () => {
          this.#pending = this.#pending.filter((one) => one !== loading);
        },
        (error: unknown) => {
          loading.problem = errorMessage(error);
        },
      );
    this.#pending = [...this.#pending, loading];
  }

  /** The tools that are still loading, and those that failed to load. */
  pending(): PendingTools[] {
    return this.#pending.map(({ done: _, ...about }) => about);
  }

  /** Resolves once nothing is loading. */
  async loaded(): Promise<void> {
    while (this.#pending.some(({ problem }) => problem === undefined)) {
      await Promise.all(this.#pending.map(({ done }) => done));
    }
  }

  /** Waits a limited time for aborted loads: they may have started a process. */
  async #loadsEnded(): Promise<void> {
    await withTimeout(this.loaded(), LOAD_GRACE_MS, () => undefined);
  }

  /** The background work of all packs combined, including packs that are added later. */
  get jobs(): BackgroundJobs {
    const sources = () => this.#provided.flatMap(({ services: { jobs } }) => jobs ?? []);
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
    return this.#provided.flatMap(({ services: { hooks } }) => hooks ?? []);
  }

  /** The skills of all packs. If two have the same name, the first is used; `problems` names both packs. */
  get skills(): readonly PackSkill[] {
    return this.#named(({ skills }) => skills).found;
  }

  /** The agents that packs define. If two have the same name, the first is used; `problems` names both packs. */
  get agents(): readonly PackAgent[] {
    return this.#named(({ agents }) => agents).found;
  }

  /** Conflicts between packs, for the user: skills or agents of two packs with the same name. */
  get problems(): readonly string[] {
    return [
      ...this.#named(({ skills }) => skills, "a skill").problems,
      ...this.#named(({ agents }) => agents, "an agent").problems,
    ];
  }

  #named<T extends { readonly name: string }>(
    of: (services: PackServices) => readonly T[] | undefined,
    kind = "",
  ): { found: readonly T[]; problems: readonly string[] } {
    const found = new Map<string, { one: T; source: string }>();
    const problems: string[] = [];
    for (const { services, source } of this.#provided) {
      for (const one of of(services) ?? []) {
        const first = found.get(one.name);
        if (!first) found.set(one.name, { one, source });
        else {
          problems.push(
            `Two packs provide ${kind} named ${quote(one.name)}: ${first.source} and ${source}. That of ${first.source} is used; remove one of the packs, or rename one.`,
          );
        }
      }
    }
    return { found: [...found.values()].map(({ one }) => one), problems };
  }

  /**
   * The current additions of packs to the system prompt. `onProblem` receives the failures of single packs; the others
   * are still read.
   */
  prompts(onProblem: (problem: string) => void = () => undefined): readonly PromptSection[] {
    const sections: PromptSection[] = [];
    for (const { services, source } of this.#provided) {
      if (!services.prompt) continue;
      try {
        const given: unknown = services.prompt();
        if (given === undefined) continue;
        if (!isRecord(given) || typeof given.title !== "string" || typeof given.text !== "string") {
          throw new Error("it must return { title, text } or undefined");
        }
        if (given.text.trim() !== "") sections.push(section(source, given.title, given.text));
      } catch (error) {
        onProblem(`The prompt text of pack ${quote(source)} is left out: ${errorMessage(error)}`);
      }
    }
    const { skills } = this;
    if (skills.length > 0) sections.push(section("packs", "Skills", describeSkills(skills)));
    return sections;
  }

  get commands(): readonly PackCommand[] {
    return this.#provided.flatMap(({ services: { commands } }) => commands ?? []);
  }

  get mentions(): readonly MentionSource[] {
    return this.#provided.flatMap(({ services: { mentions } }) => mentions ?? []);
  }

  /** Warms up the packs for their first calls, each once. The first call reports a failure. */
  warmUp(): void {
    for (const provided of this.#provided) {
      if (!provided.isCold) continue;
      provided.isCold = false;
      (async () => await provided.services.warmUp?.())().catch(() => undefined);
    }
  }

  /** Calls `refresh` each time packs update their tools. */
  onRefresh(refresh: () => void): void {
    this.#refreshers = [...this.#refreshers, refresh];
  }

  /** Lets packs update their tools. A pack that fails keeps its current ones. */
  refresh(): void {
    for (const refresh of this.#refreshers) {
      try {
        refresh();
      } catch {
        // Continue with the next pack, which has its own tools.
      }
    }
  }

  /** The diagnostics of all packs. A pack that fails is listed with its error. */
  async diagnose(): Promise<Diagnosis[]> {
    const found = this.#provided.map(async ({ services }) => {
      try {
        return (await services.diagnose?.()) ?? [];
      } catch (error) {
        return [{ subject: "a pack's own check", ok: false, detail: errorMessage(error) }];
      }
    });
    return (await Promise.all(found)).flat();
  }

  /** Kills what the packs started, without waiting, for a process that is about to exit. Never throws. */
  terminate(): void {
    for (const { services } of this.#provided) {
      try {
        services.terminate?.();
      } catch {
        // Continue with the next pack, which also has work to stop.
      }
    }
  }

  /** Stops what the packs started: every pack is disposed of, even after one has failed. */
  async dispose(): Promise<void> {
    this.#ended.abort();
    for (const provided of this.#provided) provided.isCold = false;
    this.#refreshers = [];
    await this.#loadsEnded();
    const ended = this.#provided;
    this.#provided = [];
    const endings = ended.map(async ({ services }) => await services.dispose?.());
    const failed = (await Promise.allSettled(endings)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }
}

/** Throws `invalid_argument` unless these are hooks: a misspelt name would let every call pass. */
export function checkCallHooks(where: string, hooks: unknown): void {
  checkObject(where, hooks);
  const { name, timeoutMs, ...given } = hooks as Partial<Record<keyof CallHooks, unknown>>;
  checkText(`${where}.name`, name);
  if (timeoutMs !== undefined) checkPositive(`${where}.timeoutMs`, timeoutMs);
  const present = HOOKS.filter((hook) => given[hook] !== undefined);
  for (const hook of present) checkFunction(`${where}.${hook}`, given[hook]);
  if (present.length === 0) {
    throw invalidArgument(
      where,
      `an object with ${HOOKS.slice(0, -1).join("(), ")}() or ${HOOKS.at(-1)}()`,
      hooks,
    );
  }
}

/** The hooks that a pack can have. */
export const HOOKS = [
  "beforeCall",
  "beforeRun",
  "afterCall",
  "onMessage",
  "onStop",
  "onCompact",
  "onSessionStart",
  "onSessionEnd",
] as const satisfies readonly (keyof CallHooks)[];

const FUNCTIONS = ["dispose", "diagnose", "terminate", "warmUp", "prompt"] as const;

/** Throws `invalid_argument` for invalid services. */
export function checkServices(services: PackServices): void {
  checkObject("services", services);
  if (services.hooks !== undefined) checkCallHooks("services.hooks", services.hooks);
  for (const name of FUNCTIONS) {
    if (services[name] !== undefined) checkFunction(`services.${name}`, services[name]);
  }
  checkNamed("skills", services.skills, ["description", "file"]);
  checkNamed("agents", services.agents, ["description", "systemPrompt"]);
  checkCommands(services.commands);
}

function checkCommands(commands: unknown): void {
  if (commands === undefined) return;
  arrayOf("commands")("services.commands", commands);
  for (const [index, one] of (commands as unknown[]).entries()) {
    const where = `services.commands[${index}]`;
    checkObject(where, one);
    const { name, description, run } = one as Record<string, unknown>;
    if (typeof name !== "string" || !COMMAND_NAME.test(name)) {
      throw invalidArgument(`${where}.name`, 'letters, digits, "-", "_" and ":"', name);
    }
    if (typeof description !== "string")
      throw invalidArgument(`${where}.description`, "a string", description);
    checkFunction(`${where}.run`, run);
  }
}

function checkNamed(name: "skills" | "agents", list: unknown, texts: readonly string[]): void {
  if (list === undefined) return;
  arrayOf(name)(`services.${name}`, list);
  for (const [index, one] of (list as unknown[]).entries()) {
    const where = `services.${name}[${index}]`;
    checkObject(where, one);
    const given = one as Record<string, unknown>;
    if (typeof given.name !== "string" || !NAME.test(given.name)) {
      throw invalidArgument(`${where}.name`, "letters, digits, - and _, starting with a letter", given.name);
    }
    for (const text of texts) checkText(`${where}.${text}`, given[text]);
  }
}

function section(source: string, title: string, text: string): PromptSection {
  const line = title.replace(/\s+/g, " ").trim().slice(0, 100);
  const room = MAX_PROMPT_TOKENS * CHARACTERS_PER_TOKEN;
  const isCut = text.length > room;
  const kept = (isCut ? `${text.slice(0, room - CUT.length)}${CUT}` : text).toWellFormed();
  const tokens = Math.ceil(kept.length / CHARACTERS_PER_TOKEN);
  return { source, title: line, text: kept, tokens, ...(isCut && { isCut: true as const }) };
}

const CUT = "\n[The rest was left out: a pack may add 2,000 tokens.]";

function describeSkills(skills: readonly PackSkill[]): string {
  const lines = skills.map(({ name, description, file }) => `- ${name}: ${description} (${file})`);
  return `Instructions for special tasks. Read the file of one before you use it:\n${lines.join("\n")}`;
}

/**
 * The services of a pack besides tools, by kind and name: `hooks`, `command /deploy`, `skill notes`. Hosts show this
 * before they accept a pack.
 */
export function serviceNames(services: PackServices): string[] {
  const { commands = [], skills = [], agents = [], hooks, prompt, mentions = [] } = services;
  return [
    ...(hooks === undefined ? [] : ["hooks"]),
    ...(prompt === undefined ? [] : ["prompt text"]),
    ...(mentions.length === 0 ? [] : ["mentions"]),
    ...commands.map(({ name }) => `command /${name}`),
    ...skills.map(({ name }) => `skill ${name}`),
    ...agents.map(({ name }) => `agent ${name}`),
  ];
}
