import { mkdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

const PRIVATE_DIRECTORY = 0o700;
// A path below a file: every write there fails with an error that names it.
const NO_HOME = "/dev/null";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the person's own config lives: `$AGENT_CONFIG_DIR`, `$XDG_CONFIG_HOME/agent` or `~/.config/agent`. */
export function configDirectory(env: Environment = process.env): string {
  return absolute(env.AGENT_CONFIG_DIR) ?? join(base(env, "XDG_CONFIG_HOME", ".config"), "agent");
}

/** Where trust, sessions and input history are kept: `$XDG_STATE_HOME/agent` or `~/.local/state/agent`. */
export function stateDirectory(env: Environment = process.env): string {
  return join(base(env, "XDG_STATE_HOME", ".local/state"), "agent");
}

/** Where packages the person installed for every project are: `$XDG_DATA_HOME/agent` or `~/.local/share/agent`. */
export function userPackagesDirectory(env: Environment = process.env): string {
  return join(base(env, "XDG_DATA_HOME", ".local/share"), "agent");
}

/**
 * The person's home: `$HOME`, or the account's where that is empty or relative. Never a relative path: what is kept
 * there would get into the project.
 */
export function homeDirectory(env: Environment = process.env): string {
  return absolute(env.HOME) ?? accountHome() ?? NO_HOME;
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
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function base(env: Environment, name: string, fallback: string): string {
  return absolute(env[name]) ?? join(homeDirectory(env), fallback);
}

/** What the system says of the account. Not `homedir()`, which believes an empty HOME. */
function accountHome(): string | undefined {
  try {
    return absolute(userInfo().homedir);
  } catch {
    // An account without an entry, as in some containers.
    return undefined;
  }
}

/** The base directory specification asks for absolute paths; a relative one would differ by working directory. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
