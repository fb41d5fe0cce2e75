import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { configDirectory, ensurePrivateDirectory } from "../../process/paths.js";
import { ProjectFiles } from "../trust/projectFiles.js";
import { grantTrust, isTrusted } from "../trust/trust.js";
import type { ConfigKind } from "./editPacks.js";
import { PROJECT_PLACES, USER_PLACES } from "./places.js";

/** The config of a directory, or the person's own; absent if there is none that can be edited. */
export function configFile(directory: string, user: boolean): string | undefined {
  const names = user ? USER_PLACES : PROJECT_PLACES.filter((name) => name !== "package.json");
  const base = user ? configDirectory() : directory;
  return names.map((name) => join(base, name)).find((path) => existsSync(path));
}

/** Where a config is made that is not there yet. */
export function newConfigFile(directory: string, user: boolean): string {
  return user ? join(configDirectory(), "config.json") : join(directory, "agent.config.json");
}

/**
 * Changes a config's text; one that was trusted, or is new, is trusted as it is then. `edit` returns `undefined` for a
 * text that only a person can edit; `byHand` tells them what to write.
 */
export async function editConfig(
  file: string,
  edit: (text: string, kind: ConfigKind) => string | undefined,
  byHand: string,
): Promise<void> {
  const isNew = !existsSync(file);
  const before = isNew ? "{}\n" : readFileSync(file, "utf8");
  const wasTrusted = isNew || isTrusted(file, filesOf(file, before));
  const after = edit(before, kindOf(file));
  if (after === undefined) {
    throw new CliError(
      `${quotePath(file)} cannot be edited for you: its list "packs" is not a plain one. Change it by hand: ${byHand}`,
    );
  }
  if (after === before) return;
  if (isNew) ensurePrivateDirectory(dirname(file));
  await writeFileAtomic(file, after);
  if (wasTrusted) await grantTrust(file, filesOf(file, after).hashes);
}

function kindOf(file: string): ConfigKind {
  const extension = extname(file);
  return extension === ".json" ? "json" : extension === ".yaml" ? "yaml" : "code";
}

function filesOf(file: string, text: string): ProjectFiles {
  const files = new ProjectFiles(file);
  files.add(file, text);
  return files;
}
