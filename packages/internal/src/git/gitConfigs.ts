import { nodeFs, nodeOs, nodePath } from "../files/nodeModules.js";
import { readRegularFile } from "../files/readRegularFile.js";
import { canonicalPath } from "../paths/canonicalPath.js";
import { foldPath } from "../paths/foldPath.js";
import { isInside } from "../paths/isInside.js";
import { repositoriesAbove } from "./repository.js";

/**
 * Limits for the configuration of one repository, or of the user: a repository's author chooses its size, and it is
 * read before every write. Anything beyond them is ignored here.
 */
const MAX_BYTES = 256 * 1024;
const MAX_FILES = 50;
const MAX_NAMED = 300;
const MAX_REPOSITORIES = 5;
const MAX_REMEMBERED = 100;

const HOOKS_KEY = "core.hookspath";
/** Keys whose value names one file that git reads as its own configuration. */
const INCLUDE_KEY = /^(?:include|includeif\..*)\.path$/;
const FILE_KEY = /^(?:include|includeif\..*)\.path$|^core\.attributesfile$/;
/** Keys whose value is a command that git runs, on its own or for an ordinary subcommand. */
const COMMAND_KEY =
  /^core\.(?:fsmonitor|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand)$|^(?:alias|pager|hook|credential|gpg|filter|diff|merge|difftool|mergetool|sequence|trailer|uploadpack|browser|man|interactive|sendemail|imap)\.|^submodule\..*\.update$|^remote\..*\.(?:uploadpack|receivepack)$/;
/** The program is the first or second word of a command (`sh ./clean.sh`): the rest may be anything. */
const PROGRAM_WORDS = 2;

/** A path that git runs or reads because a configuration names it. */
export interface NamedByGit {
  readonly path: string;
  /** The key that names it, such as `core.hookspath`. */
  readonly key: string;
  /**
   * `directory`: of hooks. `file`: git reads it as configuration. `program`: a command of the configuration starts with
   * it. `word`: another word of a command, which may be anything.
   */
  readonly kind: "directory" | "file" | "program" | "word";
}

/**
 * Finds files of a worktree that git runs or reads because of its configuration: hooks at `core.hooksPath`, included
 * configuration, filter and diff programs. Caches each file until it changes.
 *
 * @example
 * ```ts
 * import { GitConfigs } from "@agent/core/toolkit";
 *
 * console.log(new GitConfigs().findKey("/no/such/file")); // undefined
 * ```
 */
export class GitConfigs {
  readonly #known = new Map<string, KnownFile>();

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

  /** All paths named in the configurations that git reads in a repository of `path`. */
  named(path: string): NamedByGit[] {
    return this.#sources(path).flatMap(({ settings, worktree }) => {
      // Commands have many words, most of which are not files: they must not use up the limit of the others.
      const isCommand = ({ key }: GitSetting): boolean => COMMAND_KEY.test(key);
      const others = settings.filter((setting) => !isCommand(setting));
      return [others, settings.filter(isCommand)].flatMap((group) => lookUp(group, worktree));
    });
  }

  /** The settings of the repositories of `path`, of the user and of the system, with everything they may include. */
  settings(path: string): GitSetting[] {
    return this.#sources(path).flatMap(({ settings }) => settings);
  }

  /** The user's own configuration, then that of each repository. */
  #sources(path: string): { readonly settings: readonly GitSetting[]; readonly worktree?: string }[] {
    const repositories = repositoriesAbove(path, MAX_REPOSITORIES).map(({ worktree, gitDirectories }) => {
      const files = gitDirectories.flatMap((directory) =>
        ["config", "config.worktree"].map((name) => nodePath.join(directory, name)),
      );
      return { settings: this.#readAll(files), worktree };
    });
    const own = this.#readAll(otherFiles());
    const [nearest] = repositories;
    // Relative paths in the user's configuration are resolved against the worktree as well.
    return [
      nearest === undefined ? { settings: own } : { settings: own, worktree: nearest.worktree },
      ...repositories,
    ];
  }

  /** The settings of these files and of what they include, each file once. */
  #readAll(files: readonly string[]): GitSetting[] {
    const found: GitSetting[] = [];
    // A set is walked in the order of insertion, with what is added meanwhile.
    const waiting = new Set(files);
    let left = MAX_BYTES;
    for (const file of waiting) {
      const { size, settings } = this.#read(file, left);
      left -= size;
      found.push(...settings);
      for (const { key, value } of settings) {
        if (waiting.size >= MAX_FILES) break;
        if (INCLUDE_KEY.test(key)) waiting.add(expand(value, nodePath.dirname(file)));
      }
    }
    return found;
  }

  #read(file: string, most: number): Omit<KnownFile, "stamp"> {
    try {
      const info = nodeFs.statSync(file, { bigint: true, throwIfNoEntry: false });
      if (info === undefined || !info.isFile() || info.size > most) return NOTHING;
      const stamp = `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known;
      const bytes = readRegularFile(file, most);
      if (bytes === undefined) return NOTHING;
      const read = { stamp, size: bytes.length, settings: parseGitConfig(bytes.toString("utf8"), file) };
      if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
      this.#known.set(file, read);
      return read;
    } catch {
      // An unreadable file has no effect on git either.
      return NOTHING;
    }
  }
}

/** The cached state of a file. */
interface KnownFile {
  readonly stamp: string;
  readonly size: number;
  readonly settings: readonly GitSetting[];
}

const NOTHING = { size: 0, settings: [] };

/** The canonical paths that settings name, each once and within the limit. */
function lookUp(settings: readonly GitSetting[], worktree: string | undefined): NamedByGit[] {
  const found = new Map<string, NamedByGit>();
  for (const setting of settings) {
    for (const named of namedPaths(setting, worktree)) {
      if (found.size >= MAX_NAMED) return [...found.values()];
      const id = `${named.kind} ${named.path}`;
      if (!found.has(id)) found.set(id, { ...named, path: canonicalPath(named.path) });
    }
  }
  return [...found.values()];
}

/** The files and directories that a setting makes git run or read. */
function* namedPaths({ key, value, file }: GitSetting, worktree: string | undefined): Generator<NamedByGit> {
  const base = worktree ?? nodePath.dirname(file);
  if (value === "") return;
  if (key === HOOKS_KEY) yield { path: expand(value, base), key, kind: "directory" };
  else if (FILE_KEY.test(key)) {
    // Git resolves includes relative to their file, attributes relative to the worktree.
    for (const place of [nodePath.dirname(file), base])
      yield { path: expand(value, place), key, kind: "file" };
  } else if (COMMAND_KEY.test(key)) {
    const words = value.split(/[\s"'`;|&<>()$=!]+/).filter(Boolean);
    const program = words.slice(0, PROGRAM_WORDS).findIndex((word) => word.includes("/"));
    for (const [index, word] of words.entries()) {
      yield { path: expand(word, base), key, kind: index === program ? "program" : "word" };
    }
  }
}

function expand(value: string, base: string): string {
  return /^~(?:\/|$)/.test(value)
    ? nodePath.join(nodeOs.homedir(), value.slice(1))
    : nodePath.resolve(base, value);
}

/** Configuration that git reads in every repository: the system's and the user's. */
function otherFiles(): string[] {
  const { join } = nodePath;
  const home = nodeOs.homedir();
  const config = process.env.XDG_CONFIG_HOME || join(home, ".config");
  const global = process.env.GIT_CONFIG_GLOBAL;
  const own = global === undefined ? [join(home, ".gitconfig"), join(config, "git/config")] : [global];
  return [process.env.GIT_CONFIG_SYSTEM ?? "/etc/gitconfig", ...own];
}

/** One `key = value`, with its section: `core.hookspath`, `filter.lfs.clean`. Keys are in lower case. */
interface GitSetting {
  readonly key: string;
  readonly value: string;
  /** The file that contains it. */
  readonly file: string;
}

/** Parses keys and values of git's configuration format; unsupported lines are skipped. */
export function parseGitConfig(text: string, file = ""): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(line);
    if (header) {
      const [, name = "", subsection] = header;
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${subsection}`;
    }
    const assignment = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(header?.[3] ?? line);
    if (assignment === null) continue;
    const [, key = "", value = ""] = assignment;
    settings.push({ key: `${section}.${key.toLowerCase()}`, value: unquote(value), file });
  }
  return settings;
}

/** The value without quotes, escapes and a comment at its end. */
function unquote(value: string): string {
  let [result, quoted] = ["", false];
  for (let at = 0; at < value.length; at++) {
    const character = value[at] ?? "";
    if (character === "\\") result += value[++at] ?? "";
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === "#" || character === ";")) break;
    else result += character;
  }
  return result.trim();
}
