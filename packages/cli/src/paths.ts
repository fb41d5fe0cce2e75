import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the person's own config lives: `$AGENT_CONFIG_DIR`, `$XDG_CONFIG_HOME/agent` or `~/.config/agent`. */
export function configDirectory(env: Environment = process.env): string {
  return absolute(env.AGENT_CONFIG_DIR) ?? join(base(env, "XDG_CONFIG_HOME", ".config"), "agent");
}

/** Where trust, sessions and input history are kept: `$XDG_STATE_HOME/agent` or `~/.local/state/agent`. */
export function stateDirectory(env: Environment = process.env): string {
  return join(base(env, "XDG_STATE_HOME", ".local/state"), "agent");
}

/** What can be thrown away at any time: `$XDG_CACHE_HOME/agent` or `~/.cache/agent`. */
export function cacheDirectory(env: Environment = process.env): string {
  return join(base(env, "XDG_CACHE_HOME", ".cache"), "agent");
}

function base(env: Environment, name: string, fallback: string): string {
  return absolute(env[name]) ?? join(env.HOME || homedir(), fallback);
}

/** The base directory specification asks for absolute paths; a relative one would differ by working directory. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
