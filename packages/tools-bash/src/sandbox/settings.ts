import { resolve } from "node:path";
import { canonicalPath } from "@agent/internal";

/** `off`: no sandbox. `auto`: one if the system has it. `require`: nothing runs without. */
export type SandboxMode = "off" | "auto" | "require";

export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** `false` cuts commands off from the network. Default `true`. */
  readonly network?: boolean;
  /** `true` lets commands use unix sockets, also of programs outside that listen in the open. Default `false`. */
  readonly unixSockets?: boolean;
  /** Directories that may be written besides the agent's working directory. */
  readonly writable?: readonly string[];
  /**
   * Names of environment variables that commands get although they look like secrets; `*` stands for any characters.
   * Default: none.
   */
  readonly passEnv?: readonly string[];
}

/** The options with their defaults. */
export interface SandboxSettings extends Required<SandboxOptions> {}

/**
 * Fills in the defaults and resolves the writable directories. Called before the first command: a command could put a
 * link in the place of a directory.
 */
export function resolveSandbox(options: SandboxMode | SandboxOptions = "off"): SandboxSettings {
  const given = typeof options === "string" ? { mode: options } : options;
  return {
    mode: given.mode,
    network: given.network ?? true,
    unixSockets: given.unixSockets ?? false,
    passEnv: given.passEnv ?? [],
    writable: (given.writable ?? []).map((path) => canonicalPath(resolve(path))),
  };
}
