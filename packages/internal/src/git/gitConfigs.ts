import { nodeFs, nodeOs, nodePath } from "../files/nodeModules.js";
import { withRegularFile } from "../files/readRegularFile.js";
import { canonicalPath } from "../paths/canonicalPath.js";
import { foldPath } from "../paths/foldPath.js";
import { isInside } from "../paths/isInside.js";
import { type GitSetting, parseGitConfig } from "./configFormat.js";
import { findRepository } from "./repository.js";

const MAX_BYTES = 1024 * 1024;
const MAX_REMEMBERED = 100;

const HOOKS_KEY = "core.hookspath";
/** Keys whose value names one file that git reads as its own configuration. */
const FILE_KEY = /^(?:include|includeif\..*)\.path$|^core\.attributesfile$/;
/** Keys whose value is a command that git runs, on its own or for an ordinary subcommand. */
const COMMAND_KEY =
  /^core\.(?:fsmonitor|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand)$|^(?:alias|pager|hook|credential|gpg|filter|diff|merge|difftool|mergetool|sequence|trailer|uploadpack|browser|man|interactive|sendemail|imap)\.|^submodule\..*\.update$|^remote\..*\.(?:uploadpack|receivepack)$/;
/** A program is the first or the second word of a command (`sh ./clean.sh`): what follows may be anything. */
const PROGRAM_WORDS = 2;

/** A path that git runs or obeys because a configuration names it. */
export interface NamedByGit {
  readonly path: string;
  /** The key that names it, such as `core.hookspath`. */
  readonly key: string;
  /**
   * `directory`: of hooks. `file`: git reads it as configuration. `program`: a command of the configuration starts with
   * it. `word`: it stands somewhere else in a command, and may be anything.
   */
  readonly kind: "directory" | "file" | "program" | "word";
}

/**
 * Finds files of a worktree that git runs or reads because a configuration says so: hooks at `core.hooksPath`, included
 * configuration, filter and diff programs. Remembers each configuration until it changes.
 */
export class GitConfigs {
  readonly #known = new Map<string, { readonly stamp: string; readonly settings: readonly GitSetting[] }>();

  /**
   * The key that makes git run or read a canonical path, such as `core.hookspath`; `undefined` if none does. With
   * `contents` also one that names something below the path.
   */
  findKey(path: string, { contents = false } = {}): string | undefined {
    const folded = foldPath(path);
    return this.named(path).find((named) => {
      const place = foldPath(named.path);
      if (place === folded || (contents && isInside(folded, place))) return true;
      return named.kind === "directory" && isInside(place, folded);
    })?.key;
  }

  /** Everything that the configurations name which git reads in the repository of `path`. */
  named(path: string): NamedByGit[] {
    const worktree = findRepository(path)?.worktree;
    return this.settings(path).flatMap((setting) => namedPaths(setting, worktree));
  }

  /** The settings of the repository of `path`, of the user and of the system, with all that they may include. */
  settings(path: string): GitSetting[] {
    const repository = findRepository(path);
    const inRepository = (repository?.gitDirectories ?? []).flatMap((directory) => {
      return [nodePath.join(directory, "config"), nodePath.join(directory, "config.worktree")];
    });
    return [...inRepository, ...otherFiles()].flatMap((file) => this.#read(file, new Set()));
  }

  /** The settings of a file and of what it includes; `seen` ends a circle of includes. */
  #read(file: string, seen: Set<string>): readonly GitSetting[] {
    if (seen.has(file)) return [];
    seen.add(file);
    const settings = this.#settingsOf(file);
    const included = settings.filter(({ key }) => key.startsWith("include") && key.endsWith(".path"));
    const below = included.flatMap(({ value }) => this.#read(expand(value, nodePath.dirname(file)), seen));
    return [...settings, ...below];
  }

  #settingsOf(file: string): readonly GitSetting[] {
    try {
      const info = nodeFs.statSync(file, { bigint: true, throwIfNoEntry: false });
      if (info === undefined || !info.isFile() || info.size > MAX_BYTES) return [];
      const stamp = `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known.settings;
      const text = withRegularFile(file, (descriptor) => nodeFs.readFileSync(descriptor, "utf8"));
      const settings = parseGitConfig(text, file);
      if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
      this.#known.set(file, { stamp, settings });
      return settings;
    } catch {
      // An unreadable file has no effect on git either.
      return [];
    }
  }
}

/** The files and directories that a setting makes git run or read. */
function namedPaths({ key, value, file }: GitSetting, worktree: string | undefined): NamedByGit[] {
  const base = worktree ?? nodePath.dirname(file);
  if (value === "") return [];
  if (key === HOOKS_KEY) return [{ path: canonicalPath(expand(value, base)), key, kind: "directory" }];
  if (FILE_KEY.test(key)) {
    // Git takes includes relative to the file they stand in, attributes relative to the worktree.
    const from = [...new Set([nodePath.dirname(file), base])];
    return from.map((place) => ({ path: canonicalPath(expand(value, place)), key, kind: "file" }));
  }
  if (!COMMAND_KEY.test(key)) return [];
  const words = value.split(/[\s"'`;|&<>()$=!]+/).filter(Boolean);
  const program = words.slice(0, PROGRAM_WORDS).findIndex((word) => word.includes("/"));
  return words.map((word, index) => ({
    // Only a word with a slash can lead through a link; the rest, mostly options, is not looked up on the disk.
    path: word.includes("/") ? canonicalPath(expand(word, base)) : expand(word, base),
    key,
    kind: index === program ? "program" : "word",
  }));
}

function expand(value: string, base: string): string {
  return /^~(?:\/|$)/.test(value)
    ? nodePath.join(nodeOs.homedir(), value.slice(1))
    : nodePath.resolve(base, value);
}

/** Configuration that git reads in every repository: the system's and the person's. */
function otherFiles(): string[] {
  const { join } = nodePath;
  const home = nodeOs.homedir();
  const config = process.env.XDG_CONFIG_HOME || join(home, ".config");
  const global = process.env.GIT_CONFIG_GLOBAL;
  const own = global === undefined ? [join(home, ".gitconfig"), join(config, "git/config")] : [global];
  return [process.env.GIT_CONFIG_SYSTEM ?? "/etc/gitconfig", ...own];
}
