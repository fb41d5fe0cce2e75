import type { IgnoreRule } from "./parse.js";

/** The result of a set of rules for a path: `undefined` if none of them matches. */
export type IgnoreDecision = "ignore" | "keep" | undefined;

/** The compiled rules of one ignore file. */
export interface IgnoreMatcher {
  /**
   * The verdict about the entry `name` of `directory`, which ends in a slash or is empty. The first
   * `skip` characters of `directory` lead to the ignore file.
   */
  match(name: string, directory: string, skip: number, isDirectory: boolean): IgnoreDecision;
}

/** A rule with its position in the file: if two match, the later one wins. */
interface Placed {
  readonly place: number;
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  /** The comparison that remains after the lookup: none, the end of the name, or the whole path. */
  readonly suffix?: string;
  readonly path?: string;
}

const NO_WILDCARD = /^[^*?[\]\\]+$/;
const SUFFIX = /^\*(\.[^*?[\]\\/.]+)+$/;

/**
 * Compiles rules so that the common kinds (a name, a path, `*.ext`) cost a map look-up, however many there are,
 * and all others together one expression, as long as none of them matches.
 */
export function compileIgnoreRules(rules: readonly IgnoreRule[]): IgnoreMatcher {
  const byName = new Map<string, Placed[]>();
  const byExtension = new Map<string, Placed[]>();
  const once = createOnce();
  const onNames = new ExpressionGroup(once);
  const onPaths = new ExpressionGroup(once);
  for (const [place, { glob, anchored, negated, directoriesOnly }] of rules.entries()) {
    const placed = { place, negated, directoriesOnly };
    if (NO_WILDCARD.test(glob)) {
      const name = glob.slice(glob.lastIndexOf("/") + 1);
      append(byName, name, anchored ? { ...placed, path: glob } : placed);
    } else if (!anchored && SUFFIX.test(glob)) {
      const suffix = glob.slice(1);
      append(byExtension, suffix.slice(suffix.lastIndexOf(".")), { ...placed, suffix });
    } else (anchored ? onPaths : onNames).add(glob, placed);
  }

  return {
    match(name, directory, skip, isDirectory) {
      let best: Placed | undefined;
      const named = byName.get(name);
      if (named) {
        for (const rule of named) {
          if (rule.directoriesOnly && !isDirectory) continue;
          if (rule.path === undefined || rule.path === directory.slice(skip) + name) best = later(best, rule);
        }
      }
      const dot = byExtension.size === 0 ? -1 : name.lastIndexOf(".");
      const ending = dot === -1 ? undefined : byExtension.get(name.slice(dot));
      if (ending) {
        for (const rule of ending) {
          if (rule.directoriesOnly && !isDirectory) continue;
          if (name.endsWith(rule.suffix ?? "")) best = later(best, rule);
        }
      }
      if (!onNames.isEmpty) best = later(best, onNames.last(name, isDirectory));
      if (!onPaths.isEmpty) best = later(best, onPaths.last(directory.slice(skip) + name, isDirectory));
      if (best === undefined) return undefined;
      return best.negated ? "keep" : "ignore";
    },
  };
}

/** An expression of many rules stays below the engine's limit of 32767 groups by its length. */
const LONGEST_JOINED = 64 * 1024;

/** Rules that need an expression. A few combined expressions answer the usual case: no rule matches. */
class ExpressionGroup {
  readonly #rules: { readonly rule: Placed; readonly expression: RegExp }[] = [];
  readonly #sources: string[] = [];
  #any: readonly RegExp[] | undefined;

  readonly #once: Once;

  constructor(once: Once) {
    this.#once = once;
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  add(glob: string, rule: Placed): void {
    const source = ignoreGlobToSource(glob, this.#once);
    if (source === undefined) return;
    this.#sources.push(source);
    // Later rules win, so they are asked first.
    this.#rules.unshift({ rule, expression: new RegExp(`^(?:${source})$`, "s") });
  }

  last(path: string, isDirectory: boolean): Placed | undefined {
    const text = asBytes(path);
    this.#any ??= joined(this.#sources);
    if (!this.#any.some((expression) => expression.test(text))) return undefined;
    const found = this.#rules.find(
      ({ rule, expression }) => (isDirectory || !rule.directoriesOnly) && expression.test(text),
    );
    return found?.rule;
  }
}

function joined(sources: readonly string[]): RegExp[] {
  const parts: string[] = [];
  for (const source of sources) {
    const last = parts.at(-1);
    if (last === undefined || last.length + source.length > LONGEST_JOINED) parts.push(source);
    else parts[parts.length - 1] = `${last}|${source}`;
  }
  return parts.map((part) => new RegExp(`^(?:${part})$`, "s"));
}

function later(a: Placed | undefined, b: Placed | undefined): Placed | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.place > a.place ? b : a;
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Makes a part of an expression atomic, without backtracking into it: JavaScript has no other way. */
type Once = (source: string) => string;

/** Numbers such parts, so that expressions made with the same `Once` can be joined. */
function createOnce(): Once {
  let group = 0;
  return (source) => `(?=(?<g${++group}>${source}))\\k<g${group}>`;
}

/**
 * The source of a regular expression for a gitignore glob: `*` and `?` stay within a name, `**` as a whole name spans
 * any number of them. Returns `undefined` for a glob that can match nothing, such as an unclosed class. As in git, a
 * character is a byte: the expression is for `asBytes` of a path.
 *
 * The literal after a wildcard is matched at its first occurrence, without backtracking: an earlier position leaves
 * more text for the rest, so a later one is never needed. Otherwise a hostile ignore file (`*a*a*a*…b`) would keep the
 * expression busy for years.
 */
function ignoreGlobToSource(glob: string, once: Once): string | undefined {
  // Between "**" lie runs of names that belong together.
  const runs: string[][] = [[]];
  for (const name of asBytes(glob).split("/")) {
    if (name === "**") runs.push([]);
    else runs.at(-1)?.push(name);
  }
  const parts = runs.map((names) => names.map((name) => nameToRegex(name, once)));
  if (parts.flat().includes(undefined)) return undefined;
  let source = "";
  for (const [index, names] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const run = names.join("/");
    if (index === 0) source += run === "" || isLast ? run : `${run}/`;
    else if (isLast) source += run === "" ? ".+" : `(?:[^/]+/)*${run}`;
    else if (run !== "") source += once(`(?:[^/]+/)*?${run}/`);
  }
  return isValid(source) ? source : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** Each byte of a text as one character. */
function asBytes(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

function isValid(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}

function nameToRegex(name: string, once: Once): string | undefined {
  // The fixed pieces between the stars.
  const pieces: string[] = [""];
  const add = (source: string): void => {
    pieces.push((pieces.pop() ?? "") + source);
  };
  for (let at = 0; at < name.length; at++) {
    const character = name[at] ?? "";
    if (character === "*") {
      // Neighbouring stars mean the same as one.
      if (at === 0 || name[at - 1] !== "*") pieces.push("");
    } else if (character === "?") add("[^/]");
    else if (character === "[") {
      const found = classAt(name, at);
      if (found === undefined) return undefined;
      add(found.source);
      at = found.end;
    } else if (character === "\\") {
      at++;
      if (at === name.length) return undefined;
      add(escapeCharacter(name[at] ?? ""));
    } else add(escapeCharacter(character));
  }
  const [first = "", ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return first;
  return `${first}${rest.map((piece) => once(`[^/]*?${piece}`)).join("")}[^/]*${last}`;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: " \\t-\\r",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};
const POSIX_NAME = /\[:([^\]]*):\]/y;

/** The class that opens at `start`, as in git, and where it closes; `undefined` if it is not a class. */
function classAt(name: string, start: number): { readonly source: string; readonly end: number } | undefined {
  const negated = name[start + 1] === "!" || name[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  let inside = "";
  // The start of a range, should a "-" follow.
  let low: string | undefined;
  for (let at = first; at < name.length; at++) {
    let character = name[at] ?? "";
    // At the beginning it is a member of the class.
    if (character === "]" && at > first) {
      const source = negated ? `[^/${inside}]` : inside === "" ? "(?!)" : `(?!/)[${inside}]`;
      return { source, end: at };
    }
    POSIX_NAME.lastIndex = at;
    const posix = POSIX_NAME.exec(name);
    if (posix) {
      const known = POSIX[posix[1] ?? ""];
      if (known === undefined) return undefined;
      inside += known;
      at = POSIX_NAME.lastIndex - 1;
      low = undefined;
      continue;
    }
    const isRange = character === "-" && low !== undefined && ![undefined, "]"].includes(name[at + 1]);
    if (isRange) character = name[++at] ?? "";
    if (character === "\\") character = name[++at] ?? "";
    if (isRange && low !== undefined) inside += low <= character ? `${member(low)}-${member(character)}` : "";
    else inside += member(character);
    low = isRange ? undefined : character;
  }
  return undefined;
}

function member(character: string): string {
  return /[A-Za-z0-9]/.test(character)
    ? character
    : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function escapeCharacter(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
