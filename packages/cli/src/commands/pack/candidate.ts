import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { quote } from "@agent/core/toolkit";
import { canonicalPath, escapeToLine, isInside, quotePath, readRegularFile } from "@agent/internal";
import { archiveGit, type GitSource, parseGitSource } from "../../assembly/packages/gitArchive.js";
import { findManualInstall } from "../../assembly/packages/manualInstall.js";
import {
  checkInstalledNames,
  installPackages,
  refuseBorrowedNames,
  stagePackage,
  withStagingDirectory,
} from "../../assembly/packages/npm.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { userPackagesDirectory } from "../../process/paths.js";
import { configFile, newConfigFile } from "../../settings/config/editConfig.js";
import { packageFiles } from "../../settings/packs/lock.js";
import { configPath, isPluginFolder, readPlugin } from "../../settings/packs/plugin.js";
import { isOwnPack } from "../../settings/packs/resolve.js";
import { installedFolder, reachableFolder } from "./installed.js";

// A package's name, optionally with a version or a tag. Nothing else is passed to npm.
const SPECIFIER = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[\w.^~*-]+)?$/i;

/**
 * The folder of the archives of git packs, next to the package.json that names them. Throws if a symlink of the project
 * redirects it: files there would be replaced or removed.
 */
export function archivesFolder(place: string): string {
  const folder = join(place, ".agent", "packs");
  if (isInside(canonicalPath(place), canonicalPath(folder))) return folder;
  throw new CliError(`${quotePath(folder)} is a link out of the project. Remove the link.`, EXIT.refused);
}

export const SHORT_COMMIT = 7;

/** A pack that is not selected yet: where it is, and how it gets into the project. */
export interface Candidate {
  /** Its name in the config. */
  readonly name: string;
  readonly folder: string;
  /** How it was obtained: `was downloaded`, `is installed in …`. */
  readonly where: string;
  /** Its folder once it is installed, if not in node_modules. */
  readonly installed?: string;
  /** Its source, if it is from git. */
  readonly git?: { readonly source: string; readonly commit: string };
  readonly install?: () => Promise<void>;
}

/** Makes the pack available without changing the project, and removes it after `use`. */
export async function withCandidate(
  {
    specifier,
    directory,
    user,
  }: { readonly specifier: string; readonly directory: string; readonly user: boolean },
  use: (candidate: Candidate) => Promise<ExitCode>,
): Promise<ExitCode> {
  const place = user ? userPackagesDirectory() : directory;
  const path = resolve(directory, specifier);
  if (isPath(specifier) && statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    if (!existsSync(join(path, "package.json")) && !isPluginFolder(path)) {
      throw new CliError(
        `${quotePath(path)} has neither package.json nor plugin.json, so it is not a pack. Create one: agent pack new NAME`,
      );
    }
    const name = configPath(configDirectory(directory, user), path);
    return await use({ name, folder: path, where: `is the folder ${escapeToLine(quotePath(path))}` });
  }
  checkExists(specifier, directory);
  const git = parseGitSource(specifier);
  const named = git !== undefined || isPath(specifier) ? undefined : packageName(specifier);
  const manual = user ? undefined : findManualInstall(directory);
  if (manual === undefined) {
    return await withStagingDirectory(async (staging) => {
      if (git !== undefined) {
        const config = configDirectory(directory, user);
        return await use(await gitCandidate({ git, specifier, staging, place, user, config }));
      }
      const tarball = named === undefined ? path : undefined;
      const { name, folder } = await stagePackage(tarball ?? specifier, join(staging, "package"));
      if (tarball !== undefined) refuseOwnName(name, specifier);
      const install = () => installChecked({ name, folder, place, user, tarball });
      const where = tarball === undefined ? "was downloaded" : `is in ${escapeToLine(quotePath(path))}`;
      return await use({ name, folder, where, install });
    });
  }
  const folder = named === undefined ? undefined : reachableFolder(named, directory);
  if (named !== undefined && folder !== undefined) {
    refuseBorrowedNames(manifestOf(folder), named);
    return await use({ name: named, folder, where: `is installed in ${escapeToLine(quotePath(folder))}` });
  }
  const start = manual.plugAndPlay ? "yarn agent" : "agent";
  throw new CliError(
    `${manual.reason} Run: ${manual.install} ${specifier}, then again: ${start} pack add ${named ?? "NAME, with the name of the package"}`,
  );
}

/**
 * Throws for a name of our packs that an archive or a repository gives itself: such a pack would run with the rights of the
 * user, without limits. Only the registry proves who publishes under a name.
 */
function refuseOwnName(name: string, specifier: string): void {
  if (!isOwnPack(name, { file: "", local: false, own: false })) return;
  throw new CliError(
    `${quote(specifier)} calls itself ${quote(name)}. A pack of that name runs with your rights, so only one from the registry is added: agent pack add ${name}`,
    EXIT.refused,
  );
}

/** Throws for a path that does not exist. */
export function checkExists(specifier: string, directory: string): void {
  const path = resolve(directory, specifier);
  if (!isPath(specifier) || existsSync(path)) return;
  throw new CliError(
    `${quotePath(path)} does not exist. Pass a package name, a folder, a .tgz file or the address of a git repository.`,
  );
}

/**
 * A pack of a git repository. npm gets an archive of one commit, which is stored in the project: everyone installs
 * exactly what was examined, and neither npm nor the repository runs anything.
 */
async function gitCandidate({
  git,
  specifier,
  staging,
  place,
  user,
  config,
}: {
  readonly git: GitSource;
  readonly specifier: string;
  readonly staging: string;
  readonly place: string;
  readonly user: boolean;
  /** The directory of the config. */
  readonly config: string;
}): Promise<Candidate> {
  const { file, commit, folder: files } = await archiveGit(git, join(staging, "git"));
  const short = commit.slice(0, SHORT_COMMIT);
  if (isPluginFolder(files)) {
    const target = join(archivesFolder(place), readPlugin(files, "").name);
    return {
      name: configPath(config, target),
      folder: files,
      installed: target,
      where: `was downloaded from ${escapeToLine(git.url)}, commit ${short}`,
      git: { source: specifier, commit },
      install: async () => {
        rmSync(target, { recursive: true, force: true });
        mkdirSync(dirname(target), { recursive: true });
        cpSync(files, target, { recursive: true });
      },
    };
  }
  const { name, folder } = await stagePackage(file, join(staging, "package"));
  refuseOwnName(name, specifier);
  return {
    name,
    folder,
    where: `was downloaded from ${escapeToLine(git.url)}, commit ${short}`,
    git: { source: specifier, commit },
    install: async () => {
      const tarball = join(archivesFolder(place), `${name.replaceAll("/", "-")}-${short}.tgz`);
      mkdirSync(dirname(tarball), { recursive: true });
      copyFileSync(file, tarball);
      await installChecked({ name, folder, place, user, tarball });
      removeArchives(place, name, tarball);
    },
  };
}

/** Removes the archives of a pack from git, except for one. */
export function removeArchives(place: string, name: string, kept?: string): void {
  const folder = archivesFolder(place);
  if (!existsSync(folder)) return;
  const start = `${name.replaceAll("/", "-")}-`;
  for (const file of readdirSync(folder)) {
    const rest = file.startsWith(start) ? file.slice(start.length) : "";
    if (/^[0-9a-f]{7}\.tgz$/.test(rest) && join(folder, file) !== kept) rmSync(join(folder, file));
  }
}

/** The directory of the config. The names of packs that are folders are paths relative to it. */
export function configDirectory(directory: string, user: boolean): string {
  return dirname(configFile(directory, user) ?? newConfigFile(directory, user));
}

export function isPath(specifier: string): boolean {
  return /^(?:\.{0,2}\/|\.\.?$|file:)/.test(specifier) || specifier.endsWith(".tgz");
}

export function manifestOf(folder: string): {
  readonly version?: unknown;
  readonly dependencies?: unknown;
  readonly scripts?: unknown;
} {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Installs the examined version. Throws if other files arrived: a lock file of the project, or one of its packages, can
 * replace this version with other code.
 */
async function installChecked({
  name,
  folder: examined,
  place,
  user,
  tarball,
}: {
  readonly name: string;
  readonly folder: string;
  readonly place: string;
  readonly user: boolean;
  readonly tarball: string | undefined;
}): Promise<void> {
  const specifier = tarball ?? `${name}@${manifestOf(examined).version}`;
  if (tarball === undefined) packageName(specifier);
  await installPackages(place, [specifier]);
  const folder = installedFolder(name, place);
  checkInstalledNames(place, name);
  if (folder === undefined) throw new CliError(`npm reported success, and ${name} is not in ${place}.`);
  const different = differentFile(examined, folder);
  if (different === undefined) return;
  throw new CliError(
    `${quotePath(join(folder, different))} is not the file that was examined: package-lock.json or node_modules of this project replace ${name}. It is installed, and not selected. To remove it: agent pack remove ${name}${user ? " --user" : ""}`,
    EXIT.refused,
  );
}

/** The first file that differs between two packages, excluding the packages installed inside of them. */
function differentFile(one: string, other: string): string | undefined {
  const files = new Set([...packageFiles(one), ...packageFiles(other)]);
  return [...files].find((file) => {
    const [bytes, others] = [one, other].map((folder) =>
      readRegularFile(join(folder, file), Number.POSITIVE_INFINITY),
    );
    return bytes === undefined || others === undefined || !bytes.equals(others);
  });
}

export function packageName(specifier: string): string {
  const name = SPECIFIER.exec(specifier)?.[1];
  if (name !== undefined) return name;
  throw new CliError(
    `${quote(specifier)} is not a package name. Write one such as agent-pack-weather or @me/pack@1.2.0, the path of a folder or a .tgz file, or an address such as git+https://example.com/me/pack.git#v1.`,
  );
}
