import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { canonicalPath, foldPath, isInside } from "@agent/internal";
import { findRepository } from "./gitDirectory.js";

const MAX_BYTES = 1024 * 1024;
const MAX_REMEMBERED = 100;

/** One `key = value`, with its section: `core.hookspath`, `filter.lfs.clean`. Keys are in lower case. */
interface Setting {
  readonly key: string;
  readonly value: string;
  /** The file it stands in. */
  readonly file: string;
}

const HOOKS_KEY = "core.hookspath";
/** Keys whose value names one file that git reads as its own configuration. */
const FILE_KEY = /^(?:include|includeif\..*)\.path$|^core\.attributesfile$/;
/** Keys whose value is a command that git runs, on its own or for an ordinary subcommand. */
const COMMAND_KEY =
  /^core\.(?:fsmonitor|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand)$|^(?:alias|pager|hook|credential|gpg|filter|diff|merge|difftool|mergetool|sequence|trailer|uploadpack|browser|man|interactive|sendemail|imap)\.|^submodule\..*\.update$|^remote\..*\.(?:uploadpack|receivepack)$/;

/**
 * Finds files of a worktree that git runs or reads because a configuration says so: hooks at `core.hooksPath`, included
 * configuration, filter and diff programs. Remembers each configuration until it changes.
 */
export class GitConfigs {
  readonly #known = new Map<string, { readonly stamp: string; readonly settings: readonly Setting[] }>();

  /**
   * The key that makes git run or read a canonical path, such as `core.hookspath`; `undefined` if none does. With
   * `contents` also one that names something below the path.
   */
  findKey(path: string, { contents = false } = {}): string | undefined {
    const repository = findRepository(path);
    const worktree = repository?.worktree;
    const inRepository = (repository?.gitDirectories ?? []).flatMap((directory) => {
      return [join(directory, "config"), join(directory, "config.worktree")];
    });
    const settings = [...inRepository, ...personalFiles()].flatMap((file) => this.#read(file, new Set()));
    const folded = foldPath(path);
    const isMeant = (named: string): boolean => named === folded || (contents && isInside(folded, named));
    return settings.find((setting) => {
      const named = namedPaths(setting, worktree).map(foldPath);
      return (
        named.some(isMeant) || (setting.key === HOOKS_KEY && named.some((hooks) => isInside(hooks, folded)))
      );
    })?.key;
  }

  /** The settings of a file and of what it includes; `seen` ends a circle of includes. */
  #read(file: string, seen: Set<string>): readonly Setting[] {
    if (seen.has(file)) return [];
    seen.add(file);
    const settings = this.#settingsOf(file);
    const included = settings.filter(({ key }) => key.startsWith("include") && key.endsWith(".path"));
    return [...settings, ...included.flatMap(({ value }) => this.#read(expand(value, dirname(file)), seen))];
  }

  #settingsOf(file: string): readonly Setting[] {
    try {
      const info = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (info === undefined || !info.isFile() || info.size > MAX_BYTES) return [];
      const stamp = `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}:${info.ctimeNs}`;
      const known = this.#known.get(file);
      if (known?.stamp === stamp) return known.settings;
      const settings = parseGitConfig(readFileSync(file, "utf8"), file);
      if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
      this.#known.set(file, { stamp, settings });
      return settings;
    } catch {
      // Git cannot read it either.
      return [];
    }
  }
}

/** Reads git's configuration format as far as keys and values go; what it does not understand it skips. */
export function parseGitConfig(text: string, file = ""): Setting[] {
  const settings: Setting[] = [];
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

/** The files and directories that a setting makes git run or read. */
function namedPaths({ key, value, file }: Setting, worktree: string | undefined): string[] {
  const base = worktree ?? dirname(file);
  if (value === "") return [];
  if (key === HOOKS_KEY) return [canonicalPath(expand(value, base))];
  // Git takes includes relative to the file they stand in, attributes relative to the worktree.
  if (FILE_KEY.test(key)) return [dirname(file), base].map((from) => canonicalPath(expand(value, from)));
  if (!COMMAND_KEY.test(key)) return [];
  const words = value.split(/[\s"'`;|&<>()$=!]+/).filter(Boolean);
  // Only a word with a slash can lead through a link; the rest, mostly options, is not looked up on the disk.
  return words.map((word) => (word.includes("/") ? canonicalPath(expand(word, base)) : expand(word, base)));
}

function expand(value: string, base: string): string {
  return /^~(?:\/|$)/.test(value) ? join(homedir(), value.slice(1)) : resolve(base, value);
}

function personalFiles(): string[] {
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return [join(homedir(), ".gitconfig"), join(config, "git/config")];
}
