import { resolve } from "node:path";
import { type HostPattern, parseHostPattern } from "@agent/core/sandbox";
import { canonicalPath } from "@agent/core/toolkit";

/** `off`: no sandbox. `auto`: use one if the system has it. `require`: nothing runs without it. */
export type SandboxMode = "off" | "auto" | "require";

/** The network of sandboxed commands, host by host. */
export interface NetworkOptions {
  /**
   * The hosts that commands may connect to: `example.com`, `*.example.com`, `example.com:8443`, or an address. Without
   * a port, 80 and 443. The user is asked about every other host; if no one can be asked, it is refused.
   */
  readonly hosts: readonly string[];
}

export interface SandboxOptions {
  /** Default `require`. */
  readonly mode?: SandboxMode;
  /** `false` blocks the network, `{ hosts }` limits it to some hosts. Default `true`. */
  readonly network?: boolean | NetworkOptions;
  /** `true` lets commands use Unix sockets, including those of programs outside. Default `false`. */
  readonly unixSockets?: boolean;
  /** Directories that may be written besides the agent's working directory. */
  readonly writable?: readonly string[];
  /**
   * Names of environment variables that commands get although they look like secrets; `*` matches any characters.
   * Default: none.
   */
  readonly passEnv?: readonly string[];
}

/** The options with their defaults. */
export interface SandboxSettings extends Required<Omit<SandboxOptions, "network">> {
  /** Whether commands share the network of the agent, or the hosts they may connect to. */
  readonly network: boolean | readonly HostPattern[];
}

/**
 * Fills in the defaults and resolves the writable directories, relative ones against `directory`. Called before the first
 * command: a command could replace a directory with a symlink. Throws for an invalid host.
 */
export function resolveSandbox(
  options: SandboxMode | SandboxOptions = "off",
  directory = ".",
): SandboxSettings {
  const given = typeof options === "string" ? { mode: options } : options;
  return {
    mode: given.mode ?? "require",
    network:
      typeof given.network === "object"
        ? given.network.hosts.map((text) => parseHostPattern(text, "sandbox.network.hosts"))
        : (given.network ?? true),
    unixSockets: given.unixSockets ?? false,
    passEnv: given.passEnv ?? [],
    writable: (given.writable ?? []).map((path) => canonicalPath(resolve(directory, path))),
  };
}
