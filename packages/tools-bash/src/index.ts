import type { PackHost, PackRegistry } from "@agent/core";
import { checkRegistry } from "@agent/core/toolkit";
import { jobs } from "./jobs.js";
import type { BashOptions } from "./options.js";
import { diagnose } from "./platform.js";
import { RunBashTool } from "./tools/bash.js";

export { DEFAULT_HIDDEN_ENV } from "./environment.js";
export type { LimitName, LimitOptions } from "./limits.js";
export { type BashOptions, packName } from "./options.js";
export { createPolicy, type Policy, type PolicyOptions, type Verdict } from "./policy/policy.js";
export type { PolicyRule, PolicyRuleObject } from "./policy/rules.js";
export type { RunBashResult, TruncatedStream } from "./result.js";
export type { SandboxLevel, SandboxMode, SandboxOptions } from "./sandbox/sandbox.js";
export type { Exceeded } from "./watch.js";
export { RunBashTool };
export const packApiVersion = 1;

/** Registers `run_bash`, disabled: the user opts in. Throws on an unknown or mistyped option. */
export function register(registry: PackRegistry, host?: PackHost): void {
  checkRegistry(registry);
  registry.register(new RunBashTool(host?.options as BashOptions | undefined, host), { enabled: false });
  registry.provide?.({ jobs, diagnose });
}
