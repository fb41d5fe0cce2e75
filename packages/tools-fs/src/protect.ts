import { existsSync, lstatSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import { canonicalPath, isInside } from "@agent/core/toolkit";
import { jsonKey } from "./jsonKey.js";
import { showPath } from "./pathText.js";

/** Protected in every directory: the agent's own configuration, and what git runs by itself. */
export const ALWAYS_PROTECTED: readonly string[] = [
  "agent.config.ts",
  "agent.config.js",
  "agent.config.mjs",
  "agent.config.json",
  "agent.config.yaml",
  "package.json#agent",
  ".git/hooks",
  ".git/config",
  ".git/config.worktree",
  ".git/modules",
  // They name another directory that git takes its configuration and hooks from.
  ".git/commondir",
  ".git/worktrees",
];

/** Protected as well when a root is set: files that other programs execute or obey unasked. */
export const PROTECTED_IN_ROOT: readonly string[] = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".config/fish",
  ".config/autostart",
  ".config/git",
  ".gitconfig",
  ".ssh",
  ".envrc",
  ".husky",
  ".idea",
  ".vscode",
  "package.json#scripts",
];

// These mean a name in every directory, also when a user's own list repeats them; other entries mean one path.
const BUILT_IN = new Set([...ALWAYS_PROTECTED, ...PROTECTED_IN_ROOT]);

interface Rule {
  readonly text: string;
  /** The path the rule means below the base directory, as written. */
  readonly path: string;
  /** The first part of that path below the base. */
  readonly start: string;
  /** Names that are protected in every directory; empty for a rule that means one path. */
  readonly names: readonly string[];
}

/** Decides what may not be written. Every method throws with the rule and how to lift it. */
export class Protection {
  readonly #rules: readonly Rule[];
  readonly #keys: readonly string[];

  /** `entries` are paths relative to `base`, or built-in rules; without them all built-in rules hold. */
  constructor(base: string, entries: readonly string[] | undefined, confined: boolean) {
    const texts = entries ?? [...ALWAYS_PROTECTED, ...(confined ? PROTECTED_IN_ROOT : [])];
    const isKey = (text: string): boolean => text.startsWith("package.json#");
    this.#keys = texts.filter(isKey);
    this.#rules = texts
      .filter((text) => !isKey(text))
      .map((text) => ({
        text,
        path: resolve(base, text),
        start: resolve(base, text.split("/")[0] || "/"),
        names: BUILT_IN.has(text) ? text.split("/").map(fold) : [],
      }));
  }

  /** Refuses to create, change or replace what stands, or would stand, at a canonical path. */
  checkWrite(path: string): void {
    for (const rule of this.#rules) {
      const places = placesOf(rule);
      // A file in place of a directory on the way (".git" as a file) would redirect what lies below.
      if (places.some((place) => inside(place, path) || inside(path, place)) || onTheWay(rule.names, path)) {
        throw refusal(path, rule.text);
      }
    }
  }

  /** Refuses to make a directory there. One on the way to a protected path is harmless. */
  checkMakeDirectory(path: string): void {
    for (const rule of this.#rules) {
      const places = placesOf(rule);
      if (places.some((place) => inside(place, path)) || within(rule.names, path)) {
        throw refusal(path, rule.text);
      }
    }
  }

  /** Refuses to move away or remove what is protected or holds something protected. */
  checkTakeAway(path: string): void {
    this.checkMakeDirectory(path);
    for (const rule of this.#rules) {
      const held = placesOf(rule).find((place) => inside(path, place));
      if (held !== undefined && existsSync(held) && lstatSync(path).isDirectory()) {
        throw refusal(path, rule.text);
      }
    }
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

/** Where a rule applies: as it is written and, if a link is on the way, where it leads. */
function placesOf({ path, start }: Rule): string[] {
  // Where nothing stands there is no link: the usual case, and much cheaper to find out.
  return lstatSync(start, { throwIfNoEntry: false }) ? [path, canonicalPath(path)] : [path];
}

function refusal(path: string, rule: string): Error {
  return new Error(
    `${showPath(path)} is protected by the rule "${rule}": nothing was changed. ` +
      `Only the user can lift it, by setting the option "protect" of @agent/tools-fs to a list without this rule.`,
  );
}

// Compared without case: on many disks ".GIT/Hooks" is the same directory, and nowhere is it innocent.
function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function inside(directory: string, path: string): boolean {
  return isInside(fold(directory), fold(path));
}

function within(names: readonly string[], path: string): boolean {
  return names.length > 0 && `${fold(path)}/`.replaceAll(sep, "/").includes(`/${names.join("/")}/`);
}

/** Whether the path is protected, or is the first part of what is: ".git" for ".git/hooks". */
function onTheWay(names: readonly string[], path: string): boolean {
  if (within(names, path)) return true;
  const folded = fold(path).replaceAll(sep, "/");
  return names.some((_, count) => count > 0 && folded.endsWith(`/${names.slice(0, count).join("/")}`));
}
