import { chmodSync, lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { escapeToLine } from "@agent/internal";
import { absolutePath, homeDirectory } from "@agent/terminal/host";
import { CliError } from "./errors.js";
import { EXIT } from "./exitCodes.js";

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;
// In a user namespace, files of users outside of it appear with this owner.
const UNMAPPED_USER = 65_534;

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the user's own config: `$AGENT_CONFIG_DIR`, `$XDG_CONFIG_HOME/agent` or `~/.config/agent`. */
export function configDirectory(env: Environment = process.env): string {
  const path = absolutePath(env.AGENT_CONFIG_DIR) ?? join(base(env, "XDG_CONFIG_HOME", ".config"), "agent");
  return assertOwn(path, WRITABLE_BY_OTHERS);
}

/** The directory of trust, sessions and input history: `$XDG_STATE_HOME/agent` or `~/.local/state/agent`. */
export function stateDirectory(env: Environment = process.env): string {
  return assertOwn(join(base(env, "XDG_STATE_HOME", ".local/state"), "agent"), OPEN_TO_OTHERS);
}

/** The directory of images that the user pasted. */
export function imageDirectory(): string {
  return join(stateDirectory(), "images");
}

/** The directory of packages the user installed for every project: `$XDG_DATA_HOME/agent` or `~/.local/share/agent`. */
export function userPackagesDirectory(env: Environment = process.env): string {
  return assertOwn(join(base(env, "XDG_DATA_HOME", ".local/share"), "agent"), WRITABLE_BY_OTHERS);
}

/**
 * Returns the path if the directory is the user's own or does not exist yet. Throws for one that another user created
 * in a shared directory: its content would decide what may run. Removes `unwanted` permissions of other users.
 */
function assertOwn(path: string, unwanted: number): string {
  const me = process.getuid?.();
  const link = look(path, lstatSync);
  const info = link && look(path, statSync);
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
      // The disk is read-only: no other user can write there either.
    }
  }
  return path;
}

function look(path: string, how: typeof lstatSync): Stats | undefined {
  try {
    return how(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function base(env: Environment, name: string, fallback: string): string {
  return absolutePath(env[name]) ?? join(homeDirectory(env), fallback);
}
