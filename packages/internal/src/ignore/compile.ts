import { asBytes, createOnce, ignoreGlobToSource, type Once } from "./glob.js";
import type { IgnoreRule } from "./parse.js";

/** The verdict of a set of rules about a path: `undefined` if none of them matches. */
export type Verdict = "ignore" | "keep" | undefined;

/** The rules of one ignore file, ready to be asked often. */
export interface IgnoreMatcher {
  /**
   * The verdict about the entry `name` of `directory`, which ends in a slash or is empty. The first
   * `skip` characters of `directory` lead to the ignore file.
   */
  match(name: string, directory: string, skip: number, isDirectory: boolean): Verdict;
}

/** A rule with its place in the file: of two that match, the later one wins. */
interface Placed {
  readonly place: number;
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  /** The comparison that remains after the look-up: none, the end of the name, or the whole path. */
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

/** Rules that need an expression. A few, made of all of them, answer the usual case: no rule matches. */
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
