import { existsSync, lstatSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import { canonicalPath } from "@agent/core/toolkit";
import { fold, holds, isOnTheWay, isWithin, restOfWay } from "./foldedPath.js";
import { completesRepository, isGitDirectory } from "./gitDirectory.js";
import { jsonKey } from "./jsonKey.js";
import { LinkWatch } from "./linkWatch.js";
import { showPath } from "./pathText.js";
import { personalPlaces } from "./personalPlaces.js";
import { ALWAYS_PROTECTED, PROTECTED_IN_ROOT } from "./protectedPaths.js";

// These mean a name in every directory, also when a user's own list repeats them; other entries mean one path.
const BUILT_IN = new Set([...ALWAYS_PROTECTED, ...PROTECTED_IN_ROOT]);
const GIT = ".git/";

interface Rule {
  readonly text: string;
  /** The path the rule means below the base directory, as written, and folded for comparing. */
  readonly path: string;
  readonly folded: string;
  /** Names that are protected in every directory; empty for a rule that means one path. */
  readonly names: readonly string[];
}

/** Decides what may not be written. Every method takes a canonical path, and throws with the rule and how to lift it. */
export class Protection {
  readonly #rules: readonly Rule[];
  readonly #keys: readonly string[];
  readonly #links: LinkWatch;

  /** `entries` are paths relative to `base`, or built-in rules; without them all built-in rules hold. */
  constructor(base: string, entries: readonly string[] | undefined, confined: boolean) {
    const texts = entries ?? [...ALWAYS_PROTECTED, ...(confined ? PROTECTED_IN_ROOT : [])];
    const isKey = (text: string): boolean => text.startsWith("package.json#");
    this.#keys = texts.filter(isKey);
    this.#rules = texts
      .filter((text) => !isKey(text))
      .flatMap((text) => {
        const places = personalPlaces(text);
        const names = BUILT_IN.has(text) && places === undefined ? text.split("/").map(fold) : [];
        return (places ?? [resolve(base, text)]).map((path) => ({ text, path, folded: fold(path), names }));
      });
    // The way to a personal place cannot be changed by these tools, so it is followed once and not watched.
    const watched = this.#rules.filter(({ text }) => personalPlaces(text) === undefined);
    this.#links = new LinkWatch(
      base,
      watched.map(({ path }) => path),
    );
  }

  /** Refuses to create, change or replace a file that stands, or would stand, there. */
  checkWrite(path: string): void {
    this.#checkPlace(path, ({ names, text }, folded) => {
      // A file in place of git's directory redirects what lies below; ".config", say, is a file of its own then.
      return text.startsWith(GIT) ? isOnTheWay(names, folded) : isWithin(names, folded);
    });
  }

  /** Refuses to put something there that was made elsewhere: a directory brings along what is in it, a link leads away. */
  checkPutInto(path: string): void {
    this.#checkPlace(path, ({ names }, folded) => isOnTheWay(names, folded));
  }

  #checkPlace(path: string, isNamed: (rule: Rule, folded: string) => boolean): void {
    const folded = fold(path);
    this.#refuse(path, (rule, place) => {
      return holds(place, folded) || holds(folded, place) || isNamed(rule, folded);
    });
  }

  /** Refuses to make a directory there. One on the way to a protected path is harmless. */
  checkMakeDirectory(path: string): void {
    const folded = fold(path);
    this.#refuse(path, (rule, place) => holds(place, folded) || isWithin(rule.names, folded));
  }

  /**
   * Refuses to move away or remove what is protected, or a directory on the way to it (".git", wherever it
   * stands). A directory further up goes with all it holds, repositories included.
   */
  checkTakeAway(path: string): void {
    this.checkMakeDirectory(path);
    const folded = fold(path);
    const isDirectory = lstatSync(path).isDirectory();
    this.#refuse(path, (rule, place, real) => {
      if (holds(folded, place) && existsSync(real)) return true;
      const rest = restOfWay(rule.names, folded);
      // What is no directory (".git" as a file or a link) leads git elsewhere.
      return rest !== undefined && (!isDirectory || existsSync(resolve(path, rest)));
    });
  }

  /** Asks about every rule: with its place, folded and as it is; and, if a link is on the way, where that leads. */
  #refuse(path: string, isRefused: (rule: Rule, place: string, real: string) => boolean): void {
    const rule = this.#rules.find((rule) => isRefused(rule, rule.folded, rule.path)) ?? this.#gitRule(path);
    if (rule) throw refusal(path, rule.text);
    const linked = this.#links.current();
    for (const rule of linked.size === 0 ? [] : this.#rules) {
      if (!linked.has(rule.path)) continue;
      const real = canonicalPath(rule.path);
      if (isRefused(rule, fold(real), real)) throw refusal(path, rule.text);
    }
  }

  /** The rule for git that holds in a git directory of another name: a bare repository, or one linked to. */
  #gitRule(path: string): Rule | undefined {
    const parts = path.split(sep);
    const folded = parts.map(fold);
    return this.#rules.find(({ names, text }) => {
      if (names.length === 0 || !text.startsWith(GIT)) return false;
      const [, name = ""] = names;
      return folded.some((part, index) => {
        const directory = parts.slice(0, index).join(sep) || sep;
        if (part === name) return isGitDirectory(directory);
        // Its configuration may have been written while it was none.
        return completesRepository(directory, parts[index] ?? "") && existsSync(resolve(directory, name));
      });
    });
  }

  /** Refuses to put a link where a file is protected in part: its target could say, and become, anything. */
  checkLink(path: string): void {
    if (this.judgesContent(path)) throw refusal(path, this.#keys.join('", "'));
  }

  /** Whether `checkContent` has anything to say about this path. */
  judgesContent(path: string): boolean {
    return this.#keys.length > 0 && fold(basename(path)) === "package.json";
  }

  /** Refuses new content that changes a protected part of a file. `before` is absent for a new file. */
  checkContent(path: string, before: string | undefined, after: string): void {
    if (!this.judgesContent(path)) return;
    for (const rule of this.#keys) {
      const key = rule.slice(rule.indexOf("#") + 1);
      const wanted = jsonKey(after, key);
      if (wanted !== undefined && wanted !== jsonKey(before, key)) throw refusal(path, rule);
    }
  }
}

function refusal(path: string, rule: string): Error {
  return new Error(
    `${showPath(path)} is protected by the rule "${rule}": nothing was changed. ` +
      `Only the user can lift it, by setting the option "protect" of @agent/tools-fs to a list without this rule.`,
  );
}
