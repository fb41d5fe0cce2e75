import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { canonicalPath, isInside, quotePath } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { configDirectory } from "../../process/paths.js";
import { isPackLock } from "../packs/lock.js";
import { configFiles } from "../trust/configFiles.js";
import type { ProjectFiles } from "../trust/projectFiles.js";
import { grantTrust, isTrusted } from "../trust/trust.js";
import { hasPackageConfig, readConfigText } from "./configText.js";
import type { ConfigKind } from "./editPacks.js";
import { PACKAGE, PROJECT_PLACES, USER_PLACES } from "./places.js";

/** The config of a directory, or the user's own; absent if there is none. */
export function configFile(directory: string, user: boolean): string | undefined {
  const base = user ? configDirectory() : directory;
  const name = (user ? USER_PLACES : PROJECT_PLACES).find(
    (place) => existsSync(join(base, place)) && (place !== PACKAGE || hasPackageConfig(join(base, place))),
  );
  return name === undefined ? undefined : join(base, name);
}

/** The path for a new config. */
export function newConfigFile(directory: string, user: boolean): string {
  return user ? join(configDirectory(), "config.json") : join(directory, "agent.config.json");
}

/**
 * Runs a change of a config or of its packs. If the config was trusted before, the result is trusted; if it is new, only itself,
 * its lock and the files in the folder `approved`, which the user has just approved: the project may have other packages.
 */
export async function keepTrust<T>(file: string, change: () => Promise<T>, approved?: string): Promise<T> {
  const filesOf = (): ProjectFiles => {
    const { text, trusted } = readConfigText(file);
    return configFiles(file, trusted(text));
  };
  const isNew = !existsSync(file);
  const wasTrusted = isNew || isTrusted(file, filesOf(), approved);
  const result = await change();
  if (!wasTrusted || !existsSync(file)) return result;
  const { hashes } = filesOf();
  const own = [realpathSync(file), ...(approved === undefined ? [] : [canonicalPath(approved)])];
  const isOwn = (path: string): boolean => isPackLock(path) || own.some((one) => isInside(one, path));
  const kept = Object.entries(hashes).filter(([path]) => !isNew || isOwn(path));
  await grantTrust(file, Object.fromEntries(kept));
  return result;
}

/**
 * Changes a config's text, and keeps its trust. `edit` returns `undefined` for a text that only a user can edit; `byHand`
 * explains what to write.
 */
export async function editConfig(
  file: string,
  edit: (text: string, kind: ConfigKind) => string | undefined,
  byHand: string,
): Promise<void> {
  const isNew = !existsSync(file);
  const { text: before, kind, withText } = readConfigText(file);
  const after = edit(before, kind);
  if (after === undefined) {
    throw new CliError(
      `${quotePath(file)} cannot be edited for you: its list "packs" is not a plain one. Change it by hand: ${byHand}`,
    );
  }
  if (after === before) return;
  if (isNew) ensurePrivateDirectory(dirname(file));
  // A new file is never created through a dangling symlink.
  await keepTrust(file, () => writeFileAtomic(file, withText(after), { follow: !isNew }));
}
