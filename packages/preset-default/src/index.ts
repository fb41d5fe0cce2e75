import {
  type AgentOptions,
  type AgentToolNames,
  type ChatProvider,
  Agent as CoreAgent,
  type CreateRegistryOptions,
  createToolRegistry,
  type PackEntry,
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

/** A root for the file and search tools, and one block of options for each pack. */
export interface PresetOptions {
  /** Confines the file and search tools to this directory, after resolving links. A block's own `root` comes first. */
  readonly root?: string;
  readonly fs?: fs.FsOptions;
  readonly search?: search.SearchOptions;
  readonly bash?: bash.BashOptions;
}

/** The tools of the three packs. */
export type PresetToolName = fs.FsToolName | search.SearchToolName | bash.BashToolName;

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/preset-default": { register: typeof register };
  }
}

const PACKS = { fs, search, bash };
const OPTIONS = {
  root: { type: "string", minLength: 1 },
  fs: { type: "object" },
  search: { type: "object" },
  bash: { type: "object" },
};

/** Registers the three built-in packs: files, search and shell. */
export function register(registry: PackRegistry<PresetToolName>, host?: PackHost<PresetOptions>): void {
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

const PRESET = { packName, packApiVersion, register };

/** A registry with all built-in tools. `remove` and `run_bash` stay off until `enable` names them. */
export function createDefaultToolRegistry(
  context: ToolContext,
  options?: CreateRegistryOptions<readonly [typeof PRESET]>,
): ToolRegistry {
  return createToolRegistry(context, [PRESET], options);
}

/** What an agent takes that has the built-in tools besides those of `tools`. */
export interface PresetAgentOptions<
  Entries extends readonly PackEntry[] = readonly PackEntry[],
  Context = unknown,
> extends Omit<AgentOptions<Entries, Context>, "only" | "enable" | "disable"> {
  /** Only these tools run, also among those that come later. */
  readonly only?: readonly (AgentToolNames<Entries> | PresetToolName)[];
  /** Tools to turn on although their pack declares them disabled: `["run_bash"]`. */
  readonly enable?: readonly (AgentToolNames<Entries> | PresetToolName)[];
  /** Tools to turn off. */
  readonly disable?: readonly (AgentToolNames<Entries> | PresetToolName)[];
}

/** An agent that starts with the built-in tools; `options.tools` adds to them. */
export class Agent<
  const Entries extends readonly PackEntry[] = readonly [],
  Context = unknown,
> extends CoreAgent<readonly PackEntry[], Context> {
  constructor(provider: ChatProvider, options?: PresetAgentOptions<Entries, Context>);
  constructor(provider: ChatProvider, options: AgentOptions<readonly PackEntry[], Context> = {}) {
    super(provider, startingWithPreset(options));
  }
}

function startingWithPreset<Context>(
  options: AgentOptions<readonly PackEntry[], Context>,
): AgentOptions<readonly PackEntry[], Context> {
  const { tools = options?.packs ?? [], registry } = options ?? {};
  // A registry brings its own tools, and what is wrong continues as it is: core says so.
  if (!isRecord(options) || !Array.isArray(tools) || registry !== undefined) return options;
  // Both were given: core refuses that.
  if (options.tools !== undefined && options.packs !== undefined) return options;
  const { packs: _, ...rest } = options;
  return { ...rest, tools: [PRESET, ...tools] };
}
