import type { PackHost, PackRegistry } from "@agent/core";
import { check } from "@agent/core/toolkit";
import type { BashOptions } from "./options.js";
import { RunBashTool } from "./tools/bash.js";

export { DEFAULT_HIDDEN_ENV } from "./command/environment.js";
export type { RunBashResult, TruncatedStream } from "./command/result.js";
export { type BashOptions, packName } from "./options.js";
export { createPolicy, type Policy, type PolicyOptions, type Verdict } from "./policy/policy.js";
export type { PolicyRule, PolicyRuleObject } from "./policy/rules.js";
export type { LimitName, LimitOptions } from "./processes/limits.js";
export type { Exceeded } from "./processes/watch.js";
export type { NetworkOptions, SandboxMode, SandboxOptions } from "./sandbox/settings.js";
export type { SandboxLevel } from "./sandbox/status.js";
export { RunBashTool };

export const packApiVersion = 1;

/** The tool this pack brings. */
export type BashToolName = RunBashTool["name"];

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-bash": { register: typeof register };
  }
}

/** Registers `run_bash`, disabled: the user opts in. Throws on an unknown or mistyped option. */
export function register(registry: PackRegistry<BashToolName>, host?: PackHost<BashOptions>): void {
  check.registry(registry);
  const tool = new RunBashTool(host?.options, host);
  registry.register(tool, { enabled: false });
  registry.provide?.(tool.services);
}
