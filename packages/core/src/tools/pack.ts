import type { ExecutableTool } from "./interface.js";
import type { PackHost } from "./packHost.js";
import type { PackServices } from "./packServices.js";
import type { ToolDetails } from "./registry.js";

/**
 * A tool pack: any module with a named export `register`. It registers its tools, declares which start
 * disabled, and does nothing else at import time.
 */
export interface ToolPack {
  register(registry: PackRegistry, host?: PackHost): void;
  /** The package's name, for messages and listings. */
  readonly packName?: string;
  /**
   * Environment variables that hold its secrets: `["ACME_TOKEN"]`. A host that knows them passes their values as
   * `host.secrets`, withholds them from commands and hides them in results; read `process.env` where it passes none.
   */
  readonly secrets?: readonly string[] | undefined;
  /** The pack API version it was built for; absent means 1. */
  readonly packApiVersion?: number;
}

export interface RegisterOptions {
  /** `false` declares a tool that stays off until the user opts in. Default `true`. */
  readonly enabled?: boolean;
  /** The pack that brings the tool, for messages and listings. `registerPack` sets it; a pack need not. */
  readonly source?: string;
  /**
   * `true` keeps the tool's schema out of what the model is sent with every request. The tool is called through
   * another one that redirects to it, and is switched, approved and reported under its own name.
   */
  readonly deferred?: boolean;
}

/**
 * The part of the registry a pack works with. An interface, so that two copies of core work together. `Names` are the
 * tools the pack registers: with them an editor completes and checks `enable` and `disable` of anyone who selects the pack.
 */
export interface PackRegistry<Names extends string = string> {
  register(tool: ExecutableTool & { readonly name: Names }, options?: RegisterOptions): void;
  unregister(name: string): void;
  enable(name: string): boolean;
  disable(name: string): boolean;
  /**
   * Takes a tool of the pack's own away for now, whether the user has it on or not: the model is not offered it, and a call
   * is answered with the reason. Returns whether there is such a tool.
   */
  withhold?(name: string, reason: string): boolean;
  /** Gives a withheld tool back; it is on or off as the user has it. */
  release?(name: string): boolean;
  hasTool(name: string): boolean;
  isToolEnabled(name: string): boolean;
  getToolNames(): string[];
  /** A registered tool of any pack as another tool may call it (`ToolCall.callTool`), or `undefined` for an unknown name. */
  describeTool?(name: string): ToolDetails | undefined;
  /**
   * The values of the variables a pack declares in `secrets`, those that are set; from then on results do not show them. Called
   * by `registerPack`, also for a pack inside a preset.
   */
  claimSecrets?(pack: string, variables: readonly string[]): Readonly<Record<string, string>>;
  /** The names of all variables that were claimed as secrets: a live list, which grows with every pack. */
  readonly secretVariables?: readonly string[];
  /** What the registry adds to the host's data for the pack of this name. Called by `registerPack`, also for a pack inside a preset. */
  hostFor?(pack: string): Pick<PackHost, "directories" | "agents">;
  /**
   * Hands over what this registration brings besides tools. May be called more than once. `source` is the pack, which
   * `registerPack` sets.
   */
  provide?(services: PackServices, source?: string): void;
  /**
   * Announces tools that are known only later, such as those of a server that must be asked first. `load` starts at
   * once and registers them under the same rules; they appear between two requests to the model. A failure is
   * reported to the host under `description`; tools registered before it stay.
   */
  registerLater?(description: string, load: LoadTools): void;
  /**
   * Lets the pack bring its tools up to date with what changes outside, such as a file of the user's: `refresh` is called
   * before every request to the model and before tools are listed, and may register and unregister under the same rules. It
   * must return quickly; a failure leaves the tools as they are.
   */
  onRefresh?(refresh: (registry: PackRegistry) => void): void;
}

/** Registers tools that must be loaded first. `signal` aborts when the registry is disposed of. */
export type LoadTools = (registry: PackRegistry, signal: AbortSignal) => Promise<void>;
