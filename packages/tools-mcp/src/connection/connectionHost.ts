import type { PackHost } from "@agent/core";
import { createRedactor } from "@agent/core/toolkit";
import type { McpOptions } from "../config/options.js";
import { LoginStore, loginPath } from "../oauth/store.js";
import { ProcessGuard } from "../stdio/guard.js";

/** The shared state of all servers of one registration. */
export interface ConnectionHost {
  readonly guard: ProcessGuard;
  readonly logins: LoginStore;
  /** The base of relative paths. */
  readonly directory: string;
  /** Where the agent works, if not in the working directory of the process. */
  readonly agentDirectory: string | undefined;
  readonly ask: PackHost["ask"];
  /** Replaces the secrets of all servers in a text. */
  readonly redact: (text: string) => string;
  /** Values that `redact` replaces; servers add theirs. */
  readonly secrets: string[];
}

export function createConnectionHost(
  options: McpOptions,
  directory: string,
  ask: PackHost["ask"],
  agentDirectory?: string,
): ConnectionHost {
  const secrets: string[] = [];
  return {
    guard: new ProcessGuard(),
    logins: new LoginStore(loginPath(options.loginFile, directory)),
    directory,
    agentDirectory,
    ask,
    secrets,
    redact: createRedactor(() => secrets),
  };
}
