import {
  type ExecutableTool,
  type LoadTools,
  type PackRegistry,
  type PackServices,
  registerPack,
  type ToolPack,
} from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import { createHost } from "./host.js";

export interface CollectedTool {
  readonly tool: ExecutableTool;
  enabled: boolean;
}

interface LateTools {
  readonly description: string;
  readonly load: LoadTools;
}

/** What one registration of a pack brings. Its registry refuses nothing, so that one run finds all faults. */
export class Collection {
  readonly tools: CollectedTool[] = [];
  readonly #services: PackServices[] = [];
  readonly #late: LateTools[] = [];
  readonly #registry: PackRegistry;
  readonly #disposed = new AbortController();

  constructor(pack: ToolPack, options: unknown) {
    const { tools } = this;
    this.#registry = {
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
      hasTool: (name) => this.find(name) !== undefined,
      isToolEnabled: (name) => this.find(name)?.enabled ?? false,
      getToolNames: () => tools.map(({ tool }) => tool.name),
      claimSecrets: (_pack, variables) => setVariables(variables),
      provide: (services) => void this.#services.push(services),
      // Loading is separate: `register` itself must start nothing, and what a pack's own server does is not its fault.
      registerLater: (description, load) => void this.#late.push({ description, load }),
    };
    registerPack(this.#registry, pack, createHost(options));
  }

  find(name: string): CollectedTool | undefined {
    return this.tools.find(({ tool }) => tool.name === name);
  }

  /** Adds the tools that the pack announced for later. Resolves to the reasons of those that did not come. */
  async loadLate(withinMs: number): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const { description, load } of this.#late) {
      try {
        await inTime(load(this.#registry, this.#disposed.signal), withinMs);
      } catch (error) {
        failures.push(`${description}: ${errorMessage(error)}`);
      }
    }
    return failures;
  }

  /** Ends what the pack started, as a host does. Rejects with the pack's error, or if it does not end in time. */
  async dispose(withinMs: number): Promise<void> {
    this.#disposed.abort();
    const disposals = this.#services.map(async (services) => services.dispose?.());
    await inTime(Promise.all(disposals), withinMs);
  }
}

function inTime(work: Promise<unknown>, ms: number): Promise<unknown> {
  return withTimeout(work, ms, () => {
    throw new Error(`it did not end within ${ms} ms`);
  });
}

function setVariables(names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}
