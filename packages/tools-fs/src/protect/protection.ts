import { existsSync, lstatSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import type { AccessNeed } from "@agent/core";
import {
  canonicalPath,
  foldPath,
  GitConfigs,
  isInside,
  isRecord,
  PROTECTED_FILES,
  quotePath,
  readRegularFile,
} from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import { LinkWatch } from "./linkWatch.js";
import {
  forbids,
  hostNameRule,
  hostPathRules,
  type ProtectedChange,
  type ProtectionRule,
  toRule,
} from "./rules.js";

interface ProtectionOptions {
  /** The base directory of relative rules. */
  readonly base: string;
  /** The user's rules, which replace those of the table. */
  readonly protect: readonly string[] | undefined;
  /**
   * Whether a root confines the tools: then restricted files (which other programs run or read as configuration) are
   * protected too.
   */
  readonly confined: boolean;
  /** Whether the user can be asked: then, without a root, restricted files can be changed after approval. */
  readonly asks: boolean;
  /** Project directories besides the base: new dot files at the top of each need approval. */
  readonly tops: readonly string[];
  /** Absolute paths of the host, protected regardless of the user's rules. */
  readonly hostPaths: readonly string[];
  /** Names of the host, protected in every directory regardless of the user's rules. */
  readonly hostNames: readonly string[];
}

const GIT = ".git";
const KEY_RULE = /^(?:package|composer)\.json#/;
const LARGEST_JSON = 4 * 1024 * 1024;
const NEW_DOT_FILE =
  "programs look for files of such names at the top of a project, and may run what they say";
/** Dot files that only list names or formats. */
const PLAIN_DOT_FILES = new Set([
  ...[".gitignore", ".gitattributes", ".gitkeep", ".dockerignore", ".npmignore", ".eslintignore"],
  ...[".prettierignore", ".ignore", ".rgignore", ".editorconfig", ".mailmap", ".env.example"],
]);

/** Computes the new content of a file from its current content; `undefined` if the call would fail. */
export type NewContent = (before: string | undefined) => string | undefined;

/** Decides which paths may not be changed, or only after approval. Every method takes a canonical path. */
export class Protection {
  readonly #rules: readonly ProtectionRule[];
  readonly #asked: readonly ProtectionRule[];
  readonly #keys: readonly string[];
  readonly #askedKeys: readonly string[];
  readonly #tops: readonly string[];
  readonly #hostPaths: readonly string[];
  readonly #hostNames: readonly ProtectionRule[];
  readonly #hostKeys: readonly string[];
  readonly #links: LinkWatch;
  readonly #gitConfigs = new GitConfigs();

  constructor({ base, protect, confined, asks, tops, hostPaths, hostNames }: ProtectionOptions) {
    const table = (restricted: boolean): string[] => {
      return PROTECTED_FILES.filter(({ scope }) => (scope === "restricted") === restricted).map(
        (file) => file.pattern,
      );
    };
    const texts = protect ?? [...table(false), ...(confined ? table(true) : [])];
    this.#keys = texts.filter(isKeyRule);
    this.#rules = texts.filter((text) => !isKeyRule(text)).map((text) => toRule(text, base));
    const asked = protect === undefined && asks && !confined ? table(true) : [];
    this.#asked = asked.filter((text) => !isKeyRule(text)).map((text) => toRule(text, base));
    this.#askedKeys = asked.filter(isKeyRule);
    this.#tops = [...new Set([base, ...tops].map(canonicalPath))];
    this.#hostPaths = hostPaths;
    this.#hostKeys = hostNames.filter(isKeyRule);
    this.#hostNames = hostNames.filter((text) => !isKeyRule(text)).map((text) => hostNameRule(text, base));
    this.#links = new LinkWatch(
      base,
      [...this.#hostNames, ...this.#rules, ...this.#asked].map(({ path }) => path),
    );
  }

  /** Throws if a path may not be changed, even with approval. The error names the rule and how to lift it. */
  check(change: ProtectedChange, path: string): void {
    this.#check(change, path, this.#links.current());
  }

  /** Like `check`, and also throws if the change needs approval that this call does not have. */
  checkGranted(change: ProtectedChange, path: string, granted: readonly AccessNeed[] = []): void {
    const linked = this.#links.current();
    this.#check(change, path, linked);
    const need = this.#need(change, path, linked);
    if (need === undefined) return;
    if (!isGranted(path, granted)) throw ungranted(path, need.reason);
  }

  /** The access that a user has to grant before a restricted file is changed. */
  findNeed(change: ProtectedChange, path: string): AccessNeed | undefined {
    return this.#asked.length === 0 ? undefined : this.#need(change, path, this.#links.current());
  }

  /** The access that a user has to grant before new content changes a restricted part of a file. */
  findContentNeed(path: string, newContent: NewContent): AccessNeed | undefined {
    if (!this.#askedKeys.some((rule) => isAbout(rule, path))) return undefined;
    const before = readRegularFile(path, LARGEST_JSON)?.toString("utf8");
    const after = newContent(before);
    const rule = after === undefined ? undefined : changedKey(this.#askedKeys, path, before, after);
    return rule === undefined ? undefined : { kind: "write", path, reason: toRule(rule, "/").reason };
  }

  #check(change: ProtectedChange, path: string, linked: ReadonlySet<string>): void {
    const ofHost = [...hostPathRules(this.#hostPaths), ...this.#hostNames];
    if (this.#find(ofHost, change, path, linked)) throw hostRefusal(showPath(path));
    const rule = this.#find(this.#rules, change, path, linked) ?? this.#gitRule(change, path);
    if (rule) throw refusal(path, rule);
  }

  #need(change: ProtectedChange, path: string, linked: ReadonlySet<string>): AccessNeed | undefined {
    if (this.#asked.length === 0) return undefined;
    const rule = this.#find(this.#asked, change, path, linked);
    const reason =
      rule?.reason ?? (change !== "takeAway" && this.#isNewDotFile(path) ? NEW_DOT_FILE : undefined);
    return reason === undefined ? undefined : { kind: "write", path, reason };
  }

  /**
   * Whether a path is, or is in, a dot file that does not exist yet at the top of the project. No table can list all
   * programs that look for one there.
   */
  #isNewDotFile(path: string): boolean {
    return this.#tops.some((top) => {
      const [name = ""] = path.startsWith(withSlash(top)) ? path.slice(withSlash(top).length).split("/") : [];
      if (!name.startsWith(".") || PLAIN_DOT_FILES.has(foldPath(name))) return false;
      return lstatSync(resolve(top, name), { throwIfNoEntry: false }) === undefined;
    });
  }

  /**
   * The first rule that forbids the change: by the rule's own path or, if that contains a symlink, by its canonical
   * path. `linked` are the paths that contain one.
   */
  #find(
    rules: readonly ProtectionRule[],
    change: ProtectedChange,
    path: string,
    linked: ReadonlySet<string>,
  ): ProtectionRule | undefined {
    const folded = foldPath(path);
    const isForbidden = (rule: ProtectionRule, real: string): boolean => {
      const exists = (below?: string): boolean => {
        // ".git" may be a file or a symlink that redirects git to another directory.
        if (below !== undefined && !isDirectory(path)) return true;
        return existsSync(below === undefined ? real : resolve(path, below));
      };
      return forbids(rule, change, folded, real === rule.path ? rule.folded : foldPath(real), exists);
    };
    const found = rules.find((rule) => isForbidden(rule, rule.path));
    if (found || linked.size === 0) return found;
    return rules.find((rule) => linked.has(rule.path) && isForbidden(rule, canonicalPath(rule.path)));
  }

  /** The git rule for a path in a git directory that is not named ".git", or for a path that git's configuration names. */
  #gitRule(change: ProtectedChange, path: string): ProtectionRule | undefined {
    const git = this.#rules.find(({ text, names }) => text === GIT && names.length > 0);
    if (git === undefined) return undefined;
    const found = inGitDirectory(path);
    if (found?.completes) return { ...git, reason: "it would make this directory a repository" };
    if (found && !git.except.includes(found.inside)) {
      const specific = this.#rules.find(({ names: [first, ...rest] }) => {
        return first === GIT && rest.length > 0 && `${found.inside}/`.startsWith(`${rest.join("/")}/`);
      });
      return specific ?? git;
    }
    const contents = change === "takeAway" || change === "place";
    const key = this.#gitConfigs.findKey(path, { contents });
    return key === undefined ? undefined : { ...git, reason: `git's configuration names it in ${key}` };
  }

  /** Refuses a symlink in place of a file that is partly protected: its target can get any content later. */
  checkLink(path: string): void {
    if (!this.hasContentRule(path)) return;
    const text = [...this.#hostKeys, ...this.#keys, ...this.#askedKeys]
      .filter((rule) => isAbout(rule, path))
      .join('", "');
    throw refusal(path, { text, reason: "it may be a link" });
  }

  /** Whether `checkContent` has a rule for this path. */
  hasContentRule(path: string): boolean {
    return [...this.#hostKeys, ...this.#keys, ...this.#askedKeys].some((rule) => isAbout(rule, path));
  }

  /**
   * Refuses new content that changes a protected part of a file, or a restricted one without a grant. `before` is absent for
   * a new file.
   */
  checkContent(
    path: string,
    before: string | undefined,
    after: string,
    granted: readonly AccessNeed[] = [],
  ): void {
    const changed = (rules: readonly string[]): string | undefined => changedKey(rules, path, before, after);
    const ofHost = changed(this.#hostKeys);
    if (ofHost) throw hostRefusal(`"${keyOf(ofHost)}" in ${showPath(path)}`);
    const rule = changed(this.#keys);
    if (rule) throw refusal(path, toRule(rule, "/"));
    const asked = isGranted(path, granted) ? undefined : changed(this.#askedKeys);
    if (asked) throw ungranted(path, toRule(asked, "/").reason);
  }
}

/** The first rule whose key differs between two contents of a file. A removed key runs nothing. */
function changedKey(
  rules: readonly string[],
  path: string,
  before: string | undefined,
  after: string,
): string | undefined {
  return rules.find((rule) => {
    if (!isAbout(rule, path)) return false;
    const wanted = jsonKey(after, keyOf(rule));
    return wanted !== undefined && wanted !== jsonKey(before, keyOf(rule));
  });
}

function isGranted(path: string, granted: readonly AccessNeed[]): boolean {
  return granted.some((grant) => grant.kind === "write" && isInside(grant.path, path));
}

function ungranted(path: string, reason: string): Error {
  return new Error(
    `${quotePath(path)} needs the user's permission, since ${reason}: nothing was changed. ` +
      `Ask the user for it, or to list what is protected in the option "protect" of @agent/tools-fs.`,
  );
}

function isKeyRule(text: string): boolean {
  return KEY_RULE.test(text);
}

/** Whether a rule about a key applies to this file. */
function isAbout(rule: string, path: string): boolean {
  return foldPath(basename(path)) === rule.slice(0, rule.indexOf("#"));
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

function keyOf(rule: string): string {
  return rule.slice(rule.indexOf("#") + 1);
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function hostRefusal(what: string): Error {
  return new Error(
    `${what} belongs to the program that runs this agent, and no tool changes it: nothing was changed. Ask the user to do it.`,
  );
}

function refusal(path: string, { text, reason }: Pick<ProtectionRule, "text" | "reason">): Error {
  return new Error(
    `${showPath(path)} is protected by the rule "${text}" (${reason}): nothing was changed. ` +
      `Only the user can lift it, by setting the option "protect" of @agent/tools-fs to a list without this rule.`,
  );
}

/** The entries by which git recognises a git directory: HEAD with objects, or HEAD with commondir. */
const PARTS = ["HEAD", "objects", "commondir"];

/**
 * Whether git would use a directory as a git directory, whatever its name: the target of a `.git` symlink, the
 * directory that a `.git` file names, or a bare repository. A worktree has `commondir` instead of objects. `added` is
 * the name of an entry that the call is about to create.
 */
function isGitDirectory(directory: string, added?: string): boolean {
  // Use `lstat`: git also accepts a HEAD that is a dangling symbolic link to "refs/heads/main".
  const has = (name: string): boolean => {
    return name === added || lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  };
  try {
    return has("HEAD") && (has("objects") || has("commondir"));
  } catch {
    // A parent is a file (ENOTDIR) or may not be entered (EACCES): git cannot use the directory either.
    return false;
  }
}

/**
 * For a path inside a git directory that is not named ".git": `inside` is the rest of the path below it, folded
 * ("hooks/x"). `completes` means that creating the path would turn the directory into a git directory; checking it
 * prevents a repository from being assembled file by file. `undefined` for a path outside of git directories.
 */
function inGitDirectory(path: string): { readonly inside: string; readonly completes: boolean } | undefined {
  const parts = path.split(sep);
  for (let count = parts.length - 1; count > 0; count--) {
    const directory = parts.slice(0, count).join(sep) || sep;
    const name = parts[count] ?? "";
    const inside = foldPath(parts.slice(count).join("/"));
    if (isGitDirectory(directory)) return { inside, completes: false };
    const added = PARTS.find((part) => part === name || (ignoresCase() && foldPath(part) === foldPath(name)));
    if (added !== undefined && isGitDirectory(directory, added)) return { inside, completes: true };
  }
  return undefined;
}

function ignoresCase(): boolean {
  return process.platform !== "linux";
}

/** The value of a top-level key of a JSON text, as comparable text; `undefined` if absent. */
function jsonKey(text: string | undefined, key: string): string | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isRecord(value) && Object.hasOwn(value, key) ? JSON.stringify(value[key]) : undefined;
  } catch {
    // The text is not JSON, so no program reads the key from it.
    return undefined;
  }
}
