import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { escapeToLine } from "@agent/internal";
import { CliError } from "./errors.js";
import { EXIT } from "./exitCodes.js";

const PRIVATE_DIRECTORY = 0o700;
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;
// In a user namespace, the owner of files that the outside made may be shown so.
const UNMAPPED_USER = 65_534;
// A path below a file: every write there fails with an error that names it.
const NO_HOME = "/dev/null";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the person's own config lives: `$AGENT_CONFIG_DIR`, `$XDG_CONFIG_HOME/agent` or `~/.config/agent`. */
export function configDirectory(env: Environment = process.env): string {
  const path = absolute(env.AGENT_CONFIG_DIR) ?? join(base(env, "XDG_CONFIG_HOME", ".config"), "agent");
  return assertOwn(path, WRITABLE_BY_OTHERS);
}

/** Where trust, sessions and input history are kept: `$XDG_STATE_HOME/agent` or `~/.local/state/agent`. */
export function stateDirectory(env: Environment = process.env): string {
  return assertOwn(join(base(env, "XDG_STATE_HOME", ".local/state"), "agent"), OPEN_TO_OTHERS);
}

/** Where packages the person installed for every project are: `$XDG_DATA_HOME/agent` or `~/.local/share/agent`. */
export function userPackagesDirectory(env: Environment = process.env): string {
  return assertOwn(join(base(env, "XDG_DATA_HOME", ".local/share"), "agent"), WRITABLE_BY_OTHERS);
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

/**
 * Returns a directory that is the person's own, or is not there yet. Throws for one that another user made before, in a
 * shared place: what it holds would decide what may run. Takes from others the rights they should not have.
 */
function assertOwn(path: string, unwanted: number): string {
  const me = process.getuid?.();
  const [info, link] = [look(path, statSync), look(path, lstatSync)];
  if (me === undefined || !info || !link) return path;
  for (const { uid } of [info, link]) {
    if (uid === me || uid === 0 || uid === UNMAPPED_USER) continue;
    throw new CliError(
      `${escapeToLine(path)}: refused, because it belongs to another user (uid ${uid}). ` +
        "Make it yours with chown, or keep yours elsewhere with HOME or XDG_STATE_HOME, XDG_CONFIG_HOME and XDG_DATA_HOME.",
      EXIT.refused,
    );
  }
  if (info.uid === me && (info.mode & unwanted) !== 0) {
    try {
      chmodSync(path, info.mode & ~unwanted);
    } catch {
      // On a disk that cannot be written nobody else writes either.
    }
  }
  return path;
}

function look(path: string, how: (path: string) => Stats): Stats | undefined {
  try {
    return how(path);
  } catch {
    return undefined;
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
