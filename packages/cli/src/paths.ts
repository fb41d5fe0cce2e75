import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

const PRIVATE_DIRECTORY = 0o700;

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the person's own config lives: `$AGENT_CONFIG_DIR`, `$XDG_CONFIG_HOME/agent` or `~/.config/agent`. */
export function configDirectory(env: Environment = process.env): string {
  return absolute(env.AGENT_CONFIG_DIR) ?? join(base(env, "XDG_CONFIG_HOME", ".config"), "agent");
}

/** Where trust, sessions and input history are kept: `$XDG_STATE_HOME/agent` or `~/.local/state/agent`. */
export function stateDirectory(env: Environment = process.env): string {
  return join(base(env, "XDG_STATE_HOME", ".local/state"), "agent");
}

/**
 * Makes a directory that only its owner can enter, and the missing ones above it. Not by `recursive`, which never
 * comes back where nothing can be made at all, such as below `/proc`.
 */
export function ensurePrivateDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) ensurePrivateDirectory(dirname(path));
  try {
    mkdirSync(path, PRIVATE_DIRECTORY);
  } catch (error) {
    // Another agent may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function base(env: Environment, name: string, fallback: string): string {
  return absolute(env[name]) ?? join(env.HOME || homedir(), fallback);
}

/** The base directory specification asks for absolute paths; a relative one would differ by working directory. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
