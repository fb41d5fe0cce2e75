import {
  type AgentOptions,
  type ChatProvider,
  Agent as CoreAgent,
  type CreateRegistryOptions,
  createToolRegistry,
  type PackHost,
  type PackRegistry,
  registerPack,
  type ToolContext,
  type ToolRegistry,
} from "@agent/core";
import { check, isRecord, packOptions } from "@agent/core/toolkit";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

export const packName = "@agent/preset-default";
export const packApiVersion = 1;

/** A root for the file and search tools, and one block of options for each pack; see the packs for what they hold. */
export interface PresetOptions {
  /** Confines the file and search tools to this directory, after resolving links. A block's own `root` comes first. */
  readonly root?: string;
  readonly fs?: object;
  readonly search?: object;
  readonly bash?: object;
}

const PACKS = { fs, search, bash };
const OPTIONS = {
  root: { type: "string", minLength: 1 },
  fs: { type: "object" },
  search: { type: "object" },
  bash: { type: "object" },
};

/** Registers the three built-in packs: files, search and shell. */
export function register(registry: PackRegistry, host?: PackHost): void {
  check.registry(registry);
  const { root, ...blocks } = packOptions<PresetOptions>(packName, host?.options, OPTIONS);
  const confined = root === undefined ? {} : { root };
  const options = {
    fs: { ...confined, ...blocks.fs },
    search: { ...confined, ...blocks.search },
    bash: blocks.bash,
  };
  for (const key of ["fs", "search", "bash"] as const) {
    registerPack(registry, PACKS[key], host && { ...host, options: options[key] });
  }
}

/** A registry with all built-in tools. `remove` and `run_bash` stay off until `enable` names them. */
export function createDefaultToolRegistry(
  context: ToolContext,
  options?: CreateRegistryOptions,
): ToolRegistry {
  return createToolRegistry(context, [{ packName, packApiVersion, register }], options);
}

/** An agent that starts with the built-in tools; `options.packs` adds to them. */
export class Agent extends CoreAgent {
  constructor(provider: ChatProvider, options: AgentOptions = {}) {
    super(provider, startingWithPreset(options));
  }
}

function startingWithPreset(options: AgentOptions): AgentOptions {
  const { packs = [], registry } = options ?? {};
  // A registry brings its own tools, and what is wrong goes on as it is: core says so.
  if (!isRecord(options) || !Array.isArray(packs) || registry !== undefined) return options;
  return { ...options, packs: [{ packName, packApiVersion, register }, ...packs] };
}
