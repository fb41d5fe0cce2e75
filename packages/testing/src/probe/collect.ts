import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import {
  type ExecutableTool,
  type PackHost,
  type PackRegistry,
  registerPack,
  type ToolPack,
  ToolRegistry,
} from "@agent/core";
import { serviceNames } from "@agent/core/host";
import { withTimeout } from "@agent/internal";
import { createHost } from "./host.js";

const PROJECT_STORAGE = "project-storage";
const USER_STORAGE = "user-storage";
/** The directories in the workspace in which packs keep their own files. */
export const STORAGE: readonly string[] = [PROJECT_STORAGE, USER_STORAGE];

/** The tool that every agent has, so that a child agent has one too. */
const OF_CORE = "save_session_context";

export interface CollectedTool {
  readonly tool: ExecutableTool;
  enabled: boolean;
}

/**
 * What one registration of a pack brings. Its registry takes any tool, so that one run finds all faults; secrets and
 * services are those of a real one.
 */
export class Collection {
  readonly tools: CollectedTool[] = [];
  readonly secrets = new Set<string>();
  /** What it provides besides tools: `hooks`, `command /deploy`. */
  readonly services = new Set<string>();
  /** Starts to load what the pack announced for later. */
  readonly #late: (() => void)[] = [];
  readonly #host = new ToolRegistry({
    directories: {
      project: join(process.cwd(), PROJECT_STORAGE),
      user: join(process.cwd(), USER_STORAGE),
    },
  });

  constructor(pack: ToolPack, options: unknown, packHost: PackHost = createHost(options)) {
    const { tools } = this;
    const host = this.#host;
    const registry: PackRegistry = {
      register: (tool, { enabled = true } = {}) => void tools.push({ tool, enabled }),
      unregister: (name) => {
        const entry = this.find(name);
        if (entry) tools.splice(tools.indexOf(entry), 1);
      },
      enable: () => false,
      disable: (name) => {
        const entry = this.find(name);
        if (entry) entry.enabled = false;
        return entry !== undefined;
      },
      hasTool: (name) => name === OF_CORE || this.find(name) !== undefined,
      isToolEnabled: (name) => name === OF_CORE || (this.find(name)?.enabled ?? false),
      getToolNames: () => [OF_CORE, ...tools.map(({ tool }) => tool.name)],
      secretVariables: host.secretVariables,
      claimSecrets: (name, variables) => {
        for (const variable of variables) this.secrets.add(variable);
        return host.claimSecrets(name, variables);
      },
      hostFor: (name) => host.hostFor(name),
      provide: (services, source) => {
        for (const name of serviceNames(services)) this.services.add(name);
        host.provide(services, source);
      },
      // Loading is separate: `register` itself must start nothing, and what a pack's own server does is not its fault.
      registerLater: (description, load) => {
        this.#late.push(() => host.services.load(description, (signal) => load(registry, signal)));
      },
    };
    registerPack(registry, pack, packHost);
  }

  /** What is wrong with the text for the prompt and the skills. */
  serviceProblems(): string[] {
    const { services } = this.#host;
    const problems: string[] = [];
    const sections = services.prompts((problem) => problems.push(problem));
    for (const { title, isCut } of sections) {
      if (isCut) problems.push(`the prompt text ${title} is longer than 2,000 tokens`);
    }
    for (const { name, file } of services.skills) {
      if (!isAbsolute(file) || !existsSync(file)) problems.push(`the skill ${name} has no file at ${file}`);
    }
    return [...problems, ...services.problems];
  }

  /** Whether the pack announced tools for later that were not loaded yet. */
  get announcesMore(): boolean {
    return this.#late.length > 0;
  }

  find(name: string): CollectedTool | undefined {
    return this.tools.find(({ tool }) => tool.name === name);
  }

  /** Adds the tools that the pack announced for later. Resolves to the reasons of those that did not come in time. */
  async loadLate(withinMs: number): Promise<readonly string[]> {
    const { services } = this.#host;
    const late = `they did not load within ${withinMs} ms`;
    await withTimeout(this.#loadAll(), withinMs, () => undefined);
    return services.pending().map(({ description, problem = late }) => `${description}: ${problem}`);
  }

  async #loadAll(): Promise<void> {
    // What is loaded may announce more.
    while (this.announcesMore) {
      for (const load of this.#late.splice(0)) load();
      await this.#host.services.loaded();
    }
  }

  /** Ends what the pack started, as a host does. Rejects with the pack's error, or if it does not end in time. */
  async dispose(withinMs: number): Promise<void> {
    await withTimeout(this.#host.dispose(), withinMs, () => {
      throw new Error(`it did not end within ${withinMs} ms`);
    });
  }
}
