import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { configDirectory } from "../../process/paths.js";
import { configFiles } from "../trust/configFiles.js";
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
 * Changes a config's text. If the config was trusted before, or is new, the new text is trusted. `edit` returns
 * `undefined` for a text that only a user can edit; `byHand` explains what to write.
 */
export async function editConfig(
  file: string,
  edit: (text: string, kind: ConfigKind) => string | undefined,
  byHand: string,
): Promise<void> {
  const isNew = !existsSync(file);
  const { text: before, kind, trusted, withText } = readConfigText(file);
  const wasTrusted = isNew || isTrusted(file, configFiles(file, trusted(before)));
  const after = edit(before, kind);
  if (after === undefined) {
    throw new CliError(
      `${quotePath(file)} cannot be edited for you: its list "packs" is not a plain one. Change it by hand: ${byHand}`,
    );
  }
  if (after === before) return;
  if (isNew) ensurePrivateDirectory(dirname(file));
  // A new file is never created through a dangling symlink.
  await writeFileAtomic(file, withText(after), { follow: !isNew });
  if (wasTrusted) await grantTrust(file, configFiles(file, trusted(after)).hashes);
}
