import { definePack, off } from "@agent/core";
import { OPTIONS, PACK_NAME } from "./options.js";
import { createRunBash, runBashTool, SharedRunner } from "./tools/bash.js";
import { createRunPowershell } from "./tools/powershell.js";

export { DEFAULT_HIDDEN_ENV } from "./command/environment.js";
export type { RunBashResult, TruncatedStream } from "./command/result.js";
export type { BashOptions } from "./options.js";
export { createPolicy, type Policy, type PolicyOptions, type Verdict } from "./policy/policy.js";
export type { PolicyRule, PolicyRuleObject } from "./policy/rules.js";
export type { LimitName, LimitOptions } from "./processes/limits.js";
export type { Exceeded } from "./processes/watch.js";
export type { NetworkOptions, SandboxMode, SandboxOptions } from "./sandbox/settings.js";
export type { SandboxLevel } from "./sandbox/status.js";
export { runBashTool };

/** The names of this pack's tools; `run_powershell` on Windows only. */
export type BashToolName = "run_bash" | "run_powershell";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-bash": { register: typeof register };
  }
}

/**
 * Registers `run_bash`, and on Windows `run_powershell`, both disabled: the user opts in. Throws for an unknown or
 * mistyped option.
 */
export const { packName, packApiVersion, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  followsDirectory: true,
  setup(host, registry) {
    const shared = new SharedRunner(host.options, host);
    // Not returned: `jobs` is created on first access, and an agent that runs no command needs none.
    registry.provide?.(shared);
    const more = process.platform === "win32" ? [off(createRunPowershell(shared))] : [];
    return { tools: [off(createRunBash(shared)), ...more] };
  },
});
