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
/** The directories in the workspace for packs' own files. */
export const STORAGE: readonly string[] = [PROJECT_STORAGE, USER_STORAGE];

/** The tool that every agent has, so that a child agent has one too. */
const OF_CORE = "save_session_context";

export interface CollectedTool {
  readonly tool: ExecutableTool;
  enabled: boolean;
}

/**
 * The content of one registration of a pack. Its registry accepts any tool, so that one run finds all problems; secrets
 * and services are real.
 */
export class Collection {
  readonly tools: CollectedTool[] = [];
  readonly secrets = new Set<string>();
  /** Its services besides tools: `hooks`, `command /deploy`. */
  readonly services = new Set<string>();
  /** Starts loading what the pack announced for later. */
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
      // Loading is separate: `register` itself must start nothing, and the behaviour of a pack's own server is not its
      // fault.
      registerLater: (description, load) => {
        this.#late.push(() => host.services.load(description, (signal) => load(registry, signal)));
      },
    };
    registerPack(registry, pack, packHost);
  }

  /** The problems of the prompt text and the skills. */
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

  /** Adds the tools that the pack announced for later. Resolves to the reasons of those that did not load in time. */
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

  /** Disposes of the pack, like a host. Rejects with the pack's error, or if it does not finish in time. */
  async dispose(withinMs: number): Promise<void> {
    await withTimeout(this.#host.dispose(), withinMs, () => {
      throw new Error(`it did not end within ${withinMs} ms`);
    });
  }
}
