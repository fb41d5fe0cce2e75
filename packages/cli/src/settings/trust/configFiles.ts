import { existsSync, realpathSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { isInstalled } from "../modules/resolveModule.js";
import { packLockFile, readPackLock } from "../packs/lock.js";
import { resolveInstalled } from "../packs/resolve.js";
import { ProjectFiles } from "./projectFiles.js";

const PACKAGE_NAME = /(["'`])((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)\1/g;

/**
 * The files that a config with this text runs: its own file, the project files it imports, the entry files of
 * installed packages it names, and the lock file that limits its packs. One question covers them all.
 */
export function configFiles(file: string, text?: string): ProjectFiles {
  const files = new ProjectFiles(file);
  files.add(file, text);
  const config = files.text(realpathSync(file)) ?? "";
  for (const entry of mentionedPackages(config, files.root)) files.addPackage(entry);
  const lock = packLockFile(join(realpathSync(dirname(file)), basename(file)));
  // A damaged file is reported as damaged, not as a change to trust.
  readPackLock(lock);
  files.addLimits(lock);
  return files;
}

/**
 * The entry files of the installed packages that a text names, except those that came with the command. Any quoted word
 * may name one, so each word costs one lookup, and only the name of a package costs more.
 */
function mentionedPackages(text: string, root: string): string[] {
  const names = new Set([...text.matchAll(PACKAGE_NAME)].map((match) => match[2] ?? ""));
  const places = (createRequire(join(root, "_")).resolve.paths("a-package") ?? []).filter(existsSync);
  // Most words do not name a package, and Node takes far longer to find that out. Yarn Plug'n'Play keeps packages
  // elsewhere.
  const mayBeThere = (name: string): boolean =>
    process.versions.pnp !== undefined || places.some((place) => existsSync(join(place, name)));
  return [...names].filter(mayBeThere).flatMap((name) => {
    const found = isBuiltin(name) ? undefined : resolveInstalled(name, [root]);
    return found && !found.own && isInstalled(found.file, root) ? [found.file] : [];
  });
}
