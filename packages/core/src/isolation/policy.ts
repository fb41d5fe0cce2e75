import { homedir } from "node:os";
import { dirname } from "node:path";
import { canonicalPath, isInside } from "@agent/internal";
import type { PackGrants } from "./manifest.js";
import { packageFiles } from "./packageFiles.js";

/**
 * The access of a pack process, independent of the program that enforces it: the bubblewrap mounts, the `sandbox-exec`
 * profile and Node's flags are derived from it. All paths are canonical. A pack can write only to a private `/tmp` and
 * has no network: both go through the host.
 */
export interface PackPolicy {
  /** Files and directories that can be read. */
  readonly readable: readonly string[];
  /** Directories that can be written, for a program that is not a pack. */
  readonly writable?: readonly string[];
  /** Symlinks by which Node finds packages. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Files and directories that are hidden although they are in a readable directory. */
  readonly hidden: readonly string[];
  readonly cwd: string;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly programs: boolean;
  readonly memoryMb: number;
  readonly temporaryMb: number;
}

const MEMORY_MB = 512;
const TEMPORARY_MB = 64;
/** The examiner has its own threads, for which Node 24 reserves a lot of memory. */
const EXAMINER_MEMORY_MB = 4096;

export interface PolicyOptions {
  /** The canonical path of the pack's module. */
  readonly entry: string;
  /** The canonical path of the executable that runs it. */
  readonly runtime: string;
  /** The file of the loader for TypeScript, if the pack is not built. */
  readonly loader?: string | undefined;
  readonly grants: PackGrants;
  /** The working directory of the agent, readable if the pack may read files. */
  readonly workspace: string;
  /** Other directories of the user's projects. */
  readonly projects?: readonly string[];
  /** Absolute paths that require approval to read. */
  readonly secretPaths: readonly string[];
}

export function packPolicy(options: PolicyOptions): PackPolicy {
  const { entry, runtime, loader, grants, workspace, projects = [], secretPaths } = options;
  const project = canonicalPath(workspace);
  const { directories, links } = packageFiles(entry, [
    project,
    ...projects.map((path) => canonicalPath(path)),
  ]);
  const tools = loader === undefined ? [] : packageFiles(canonicalPath(loader)).directories;
  const mayRead = grants.files !== undefined;
  const readable = [...directories, ...tools, runtime, ...(mayRead ? [project] : [])];
  return {
    readable: readable.filter((path) => !readable.some((other) => other !== path && isInside(other, path))),
    links: links.filter(({ path }) => !mayRead || !isInside(project, path)),
    hidden: secretPaths
      .map((path) => canonicalPath(path))
      .filter((path) => readable.some((directory) => isInside(directory, path))),
    cwd: mayRead ? project : "/",
    env: {
      // Path rules need the real working directory, and some modules do not load without it.
      HOME: homedir(),
      TMPDIR: "/tmp",
      TZ: Intl.DateTimeFormat().resolvedOptions().timeZone,
      ...(grants.programs && { PATH: "/usr/local/bin:/usr/bin:/bin" }),
    },
    programs: grants.programs === true,
    memoryMb: MEMORY_MB,
    temporaryMb: TEMPORARY_MB,
  };
}

/** A program that examines a pack: it reads its own packages and those of the pack, and writes one directory. */
export function examinerPolicy({
  script,
  entry,
  directory,
  env,
}: {
  readonly script: string;
  readonly entry: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}): PackPolicy {
  const found = [packageFiles(script), packageFiles(entry)];
  const lone = found[1]?.directories.includes(entry) ? [dirname(entry)] : [];
  const readable = [...found.flatMap(({ directories }) => directories), ...lone];
  return {
    readable: [...new Set(readable)].filter(
      (path) => !readable.some((other) => other !== path && isInside(other, path)),
    ),
    links: found
      .flatMap(({ links }) => links)
      .filter(({ path }) => !readable.some((directory) => isInside(directory, path)))
      .filter(({ path }, at, all) => all.findIndex((other) => other.path === path) === at),
    writable: [directory],
    hidden: [],
    cwd: directory,
    env: { HOME: homedir(), TMPDIR: "/tmp", ...env },
    programs: false,
    memoryMb: EXAMINER_MEMORY_MB,
    temporaryMb: TEMPORARY_MB,
  };
}
