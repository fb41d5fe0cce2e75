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
import { checkRegistry, isRecord, packOptions } from "@agent/core/toolkit";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

export const packName = "@agent/preset-default";
export const packApiVersion = 1;

/** One block of options for each pack of the preset; see the packs for what they hold. */
export interface PresetOptions {
  readonly fs?: object;
  readonly search?: object;
  readonly bash?: object;
}

const PACKS = { fs, search, bash };
const OPTIONS = { fs: { type: "object" }, search: { type: "object" }, bash: { type: "object" } };

/** Registers the three built-in packs: files, search and shell. */
export function register(registry: PackRegistry, host?: PackHost): void {
  checkRegistry(registry);
  const options = packOptions<PresetOptions>(packName, host?.options, OPTIONS);
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
