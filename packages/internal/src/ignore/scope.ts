import { nodeFs, nodePath } from "../files/nodeModules.js";
import { readRegularFile } from "../files/readRegularFile.js";
import { ownAncestors } from "../git/repository.js";
import { compileIgnoreRules, type IgnoreDecision, type IgnoreMatcher } from "./compile.js";
import { parseIgnoreFile } from "./parse.js";

const MAX_RULE_BYTES = 4 * 1024 * 1024;

/** A name that no rule mentions. */
const UNHEARD_OF = "\u0001";

/**
 * Names of files whose presence in a directory affects what is ignored below it.
 *
 * @example
 * ```ts
 * import { IGNORE_FILES } from "@agent/core/toolkit";
 *
 * console.log(IGNORE_FILES.git); // .gitignore
 * ```
 */
export const IGNORE_FILES = { git: ".gitignore", other: ".ignore", repository: ".git" } as const;

/** Reads ignore files. A file that it refuses, such as one outside of a boundary, is treated as missing. */
export interface IgnoreFileReader {
  /** The text of a regular file of at most `maxBytes`. */
  readText(file: string, maxBytes: number): string | undefined;
}

/** Reads ignore files without a boundary. Never waits for a FIFO. */
export const PLAIN_READER: IgnoreFileReader = {
  readText(file, maxBytes) {
    const bytes = readRegularFile(file, maxBytes + 1);
    return bytes === undefined || bytes.length > maxBytes ? undefined : bytes.toString("utf8");
  },
};

/** The rules of one ignore file, and those of the directories above it. */
interface Level {
  readonly matcher: IgnoreMatcher;
  /** The length of the path to the directory of the file. */
  readonly baseLength: number;
  /** The size of these rules and those of the parents. */
  readonly size: number;
  readonly parent: Level | undefined;
}

/**
 * The ignore rules in effect in a directory, as git and search tools apply them. `enter` returns the rules one
 * directory deeper. `.ignore` files decide before `.gitignore` files, a deeper file before a shallower one, and within
 * a file the last rule that matches. A nested repository starts with only its own `.gitignore` files, as in git.
 *
 * @example
 * ```ts
 * import { readFileSync, writeFileSync } from "node:fs";
 * import { IgnoreScope } from "@agent/core/toolkit";
 *
 * writeFileSync(".ignore", "build/\n");
 * const here = `${process.cwd()}/`;
 * const scope = IgnoreScope.none({ readText: (file) => readFileSync(file, "utf8") }).enter(here, {
 *   git: false,
 *   other: true,
 *   repository: false,
 * });
 * console.log(scope.ignores(here, "build", true), scope.ignores(here, "src", true)); // true false
 * ```
 */
export class IgnoreScope {
  readonly #reader: IgnoreFileReader;
  readonly #other: Level | undefined;
  readonly #git: Level | undefined;
  readonly #maxRuleBytes: number;

  private constructor(
    reader: IgnoreFileReader,
    maxRuleBytes: number,
    other: Level | undefined,
    git: Level | undefined,
  ) {
    this.#reader = reader;
    this.#maxRuleBytes = maxRuleBytes;
    this.#other = other;
    this.#git = git;
  }

  /** The scope without any rule. Rules beyond `maxRuleBytes` in a directory and those above it have no effect. */
  static none(reader: IgnoreFileReader, maxRuleBytes: number = MAX_RULE_BYTES): IgnoreScope {
    return new IgnoreScope(reader, maxRuleBytes, undefined, undefined);
  }

  /** Whether the entry `name` of `directory` (absolute, "/" at the end) is left out. */
  ignores(directory: string, name: string, isDirectory: boolean): boolean {
    const verdict =
      ask(this.#other, directory, name, isDirectory) ?? ask(this.#git, directory, name, isDirectory);
    return verdict === "ignore";
  }

  get isEmpty(): boolean {
    return this.#other === undefined && this.#git === undefined;
  }

  /** The scope inside `directory` (absolute, "/" at the end), given which of `IGNORE_FILES` it holds. */
  enter(directory: string, holds: { git: boolean; other: boolean; repository: boolean }): IgnoreScope {
    if (!holds.git && !holds.other && !holds.repository) return this;
    const { repository, git, other } = IGNORE_FILES;
    let left = this.#maxRuleBytes - (this.#other?.size ?? 0) - (this.#git?.size ?? 0);
    const read: ReadText = (file) => this.#reader.readText(file, left);
    const add = (file: string, parent: Level | undefined): Level | undefined => {
      const added = level(read(file), directory, parent);
      left -= (added?.size ?? 0) - (parent?.size ?? 0);
      return added;
    };
    const inherited = holds.repository
      ? add(excludeFile(directory + repository, read), undefined)
      : this.#git;
    return new IgnoreScope(
      this.#reader,
      this.#maxRuleBytes,
      holds.other ? add(directory + other, this.#other) : this.#other,
      holds.git ? add(directory + git, inherited) : inherited,
    );
  }

  /** The same for a directory whose entries are unknown: checks for the three. */
  enterUnread(directory: string): IgnoreScope {
    return this.enter(directory, {
      git: exists(directory + IGNORE_FILES.git),
      other: exists(directory + IGNORE_FILES.other),
      repository: exists(directory + IGNORE_FILES.repository),
    });
  }

  /**
   * The scope of a search that starts in `directory`, from the ignore files of its repository above it. If those rules
   * ignore the directory, it was named on purpose: then only the rules inside it apply. Nothing above `confinedTo` is
   * read. Every name is compared with all active rules, so rules beyond `maxRuleBytes` in a directory and its parents
   * have no effect.
   */
  static above(
    directory: string,
    confinedTo: string | undefined,
    reader: IgnoreFileReader,
    maxRuleBytes: number = MAX_RULE_BYTES,
  ): IgnoreScope {
    const chain = directoriesUpToRepository(directory, confinedTo);
    const none = IgnoreScope.none(reader, maxRuleBytes);
    let scope = none;
    for (const [index, current] of chain.entries()) {
      const next = chain[index + 1];
      if (next === undefined) break;
      const base = withSlash(current);
      scope = scope.enterUnread(base);
      if (scope.ignores(base, next.slice(base.length), true)) return none;
    }
    // "dist/*" does not match dist itself, but everything in it; "*" applies to every directory equally.
    const leavesOut = (place: string): boolean => scope.ignores(withSlash(place), UNHEARD_OF, false);
    const isMeant =
      leavesOut(directory) && !leavesOut(nodePath.join(nodePath.dirname(directory), UNHEARD_OF));
    return isMeant ? none : scope;
  }
}

/** Whether ignore rules below `top`, a repository's root, ignore a directory or one of its parents. */
export function isIgnoredDirectory(
  top: string,
  directory: string,
  reader: IgnoreFileReader,
  maxRuleBytes?: number,
): boolean {
  let scope = IgnoreScope.none(reader, maxRuleBytes);
  let current = top;
  for (const name of nodePath.relative(top, directory).split(nodePath.sep).filter(Boolean)) {
    scope = scope.enterUnread(withSlash(current));
    if (scope.ignores(withSlash(current), name, true)) return true;
    current = nodePath.join(current, name);
  }
  return false;
}

function ask(
  start: Level | undefined,
  directory: string,
  name: string,
  isDirectory: boolean,
): IgnoreDecision {
  for (let current = start; current !== undefined; current = current.parent) {
    const verdict = current.matcher.match(name, directory, current.baseLength, isDirectory);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

type ReadText = (file: string) => string | undefined;

function level(text: string | undefined, base: string, parent: Level | undefined): Level | undefined {
  if (text === undefined) return parent;
  const size = text.length + (parent?.size ?? 0);
  return { matcher: compileIgnoreRules(parseIgnoreFile(text)), baseLength: base.length, size, parent };
}

/** From the repository's top down to `directory`; empty outside a repository. */
function directoriesUpToRepository(directory: string, confinedTo: string | undefined): string[] {
  if (exists(nodePath.join(directory, IGNORE_FILES.repository))) return [];
  const chain: string[] = [];
  for (const current of ownAncestors(directory)) {
    chain.unshift(current);
    if (exists(nodePath.join(current, IGNORE_FILES.repository))) return chain;
    if (current === confinedTo) return [];
  }
  return [];
}

/** `info/exclude` of a repository; in a linked worktree or submodule `.git` is a file that names the directory. */
function excludeFile(dotGit: string, read: ReadText): string {
  let gitDirectory = dotGit;
  const pointer = /^gitdir: (.+)/.exec(read(dotGit) ?? "")?.[1];
  if (pointer !== undefined) {
    gitDirectory = nodePath.resolve(nodePath.dirname(dotGit), pointer.trim());
    const common = read(nodePath.join(gitDirectory, "commondir"));
    if (common !== undefined) gitDirectory = nodePath.resolve(gitDirectory, common.trim());
  }
  return nodePath.join(gitDirectory, "info", "exclude");
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** Whether the name exists, whatever it is: a walk decides by names too. */
function exists(path: string): boolean {
  try {
    return nodeFs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
