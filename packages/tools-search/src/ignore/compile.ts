import { ignoreGlobToRegex } from "./glob.js";
import type { IgnoreRule } from "./parse.js";

/** What a set of rules says about a path: `undefined` if none of them matches. */
export type Verdict = "ignore" | "keep" | undefined;

/** The rules of one ignore file, ready to be asked often. */
export interface IgnoreMatcher {
  /** `name` is the last part of the path, `path` the whole from the ignore file's directory. */
  match(name: string, path: () => string, isDirectory: boolean): Verdict;
}

interface Indexed extends IgnoreRule {
  readonly index: number;
}

const SIMPLE_NAME = /^[^*?[\]\\]+$/;
const SIMPLE_SUFFIX = /^\*(\.[^*?[\]\\/.]+)+$/;

/**
 * Compiles rules so that the common kinds (a name, `*.ext`) cost one map look-up each, however many there
 * are. The last rule that matches decides.
 */
export function compileIgnoreRules(rules: readonly IgnoreRule[]): IgnoreMatcher {
  const names = new Map<string, Indexed[]>();
  const suffixes = new Map<string, { readonly rule: Indexed; readonly suffix: string }[]>();
  const others: { readonly rule: Indexed; readonly expression: RegExp }[] = [];
  for (const [index, rule] of rules.entries()) {
    const indexed = { ...rule, index };
    if (!rule.anchored && SIMPLE_NAME.test(rule.glob)) {
      append(names, rule.glob, indexed);
    } else if (!rule.anchored && SIMPLE_SUFFIX.test(rule.glob)) {
      const suffix = rule.glob.slice(1);
      append(suffixes, suffix.slice(suffix.lastIndexOf(".")), { rule: indexed, suffix });
    } else {
      const expression = ignoreGlobToRegex(rule.glob);
      if (expression) others.push({ rule: indexed, expression });
    }
  }
  // Later rules win, so they are asked first.
  others.reverse();

  return {
    match(name, path, isDirectory) {
      let best: Indexed | undefined;
      const consider = (rule: Indexed): void => {
        if (rule.directoriesOnly && !isDirectory) return;
        if (best === undefined || rule.index > best.index) best = rule;
      };
      const named = names.get(name);
      if (named) for (const rule of named) consider(rule);
      const dot = name.lastIndexOf(".");
      const suffixed = dot === -1 ? undefined : suffixes.get(name.slice(dot));
      if (suffixed) for (const { rule, suffix } of suffixed) if (name.endsWith(suffix)) consider(rule);
      for (const { rule, expression } of others) {
        if (best !== undefined && rule.index < best.index) break;
        if (rule.directoriesOnly && !isDirectory) continue;
        if (expression.test(rule.anchored ? path() : name)) {
          best = rule;
          break;
        }
      }
      if (best === undefined) return undefined;
      return best.negated ? "keep" : "ignore";
    },
  };
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
