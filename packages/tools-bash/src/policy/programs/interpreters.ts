import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, isInput, skipValue } from "./program.js";

/** An interpreter: the options that bring no code along, alone or with the next word as their value. */
interface Interpreter {
  readonly name: RegExp;
  readonly flags: RegExp;
  readonly values?: RegExp;
  /** Options, and subcommands, with which it runs no code from its input when it is given no program. */
  readonly complete: RegExp;
}

const ASKS = /^(--version|--help|-V|-h)$/;
const INTERPRETERS: readonly Interpreter[] = [
  {
    name: /^(node|nodejs|tsx|ts-node)[\d.]*$/,
    flags:
      /^(-v|-c|--check|--version|--help|-h|--test(-[a-z-]+(=[^:]*)?)?|--watch|--enable-source-maps|--inspect(-brk|-wait)?(=.*)?|--no-[a-z-]+|--trace-[a-z-]+|--expose-gc|--experimental-(?!loader|default-config|config)[a-z-]+|--max-[a-z-]+=\d+|--stack-size=\d+|--throw-deprecation|--unhandled-rejections=\w+)$/,
    complete: /^(-v|--version|--help|-h|--test)$/,
  },
  {
    name: /^bun$/,
    flags: /^(--version|--revision|--help|-h|-v|--watch|--hot|--bun|--silent|--smol)$/,
    complete: /^(--version|--revision|--help|-h|-v)$/,
  },
  {
    name: /^deno$/,
    flags: /^(--version|--help|-h|-V|--quiet|-q|-A|--allow-[a-z]+(=.*)?|--no-check)$/,
    complete: ASKS,
  },
  {
    name: /^(python|pypy)[\d.]*$/,
    flags: /^(-[bBdEIOPqsSuv]+|-VV?|--version|--help|-h|-m[\w.]+|-W[\w:.]+|-X[\w=]+)$/,
    values: /^-[bBdEIOPqsSuv]*[mWX]$/,
    complete: /^(-VV?|--version|--help|-h|-[bBdEIOPqsSuv]*m.*)$/,
  },
  {
    name: /^perl[\d.]*$/,
    flags: /^(-[ctTuUwWX]+|-v|--version|--help|-h|-V)$/,
    complete: /^(-v|--version|--help|-h|-V)$/,
  },
  {
    name: /^ruby[\d.]*$/,
    flags: /^(-[cvwW]+|--version|--help|-h|--yjit|--jit)$/,
    complete: /^(-v|--version|--help|-h)$/,
  },
  {
    name: /^php[\d.]*$/,
    flags: /^(-[flnqv]|--version|--help|-h|-m|-i)$/,
    values: /^-[St]$/,
    complete: /^(-v|--version|--help|-h|-m|-i|-S)$/,
  },
  {
    name: /^(lua|luajit|elixir|julia|rscript|guile|tclsh|ghci|irb|wish|groovy|scala|jshell|racket|sbcl|swipl|octave|r|gnuplot|erl|iex|clojure|clj|jrunscript|qjs|mongo|mongosh|coffee|pry|raku|bpftrace|stap|maxima|gp)[\d.]*$/,
    flags: /^(--version|--help|-v|-V)$/,
    complete: /^(--version|--help|-v|-V)$/,
  },
];
// Modules of Python whose operands are code.
const CODE_MODULES =
  /^(timeit|code|codeop|pdb|trace|cProfile|profile|runpy|IPython|ptpython|asyncio|idlelib.*|bdb|doctest|sqlite3)$/;
// Subcommands that stand in front of a program.
const SUBCOMMANDS =
  /^(run|test|bench|build|install|add|remove|update|check|fmt|lint|cache|info|doc|task|create|init|upgrade|compile|publish|pm|link|unlink|outdated)$/;

/** Interpreters may run a program in a file, which is not judged, but no code in their words or their input. */
export function readInterpreter(name: string, words: readonly CommandWord[]): Inside | undefined {
  const interpreter = INTERPRETERS.find((entry) => entry.name.test(name));
  if (interpreter === undefined) return undefined;
  let isComplete = false;
  for (let index = 0; index < words.length; index++) {
    const { text, source } = words[index] ?? { source: "" };
    // Unless it begins with a letter or a path, an unknown word may turn out to be an option that brings code.
    if (text === undefined && !/^("?[\w./]|~\/)/.test(source))
      throw new Unresolvable(`${name} runs ${shown(source)}, which is not known yet`);
    if (/^(deno|bun)$/.test(name) && SUBCOMMANDS.test(text ?? "")) {
      if (text === "run") continue;
      return {};
    }
    if (/^(deno|bun)$/.test(name) && /^(eval|repl|exec|x|jupyter)$/.test(text ?? ""))
      throw fromWord(name, source);
    if (text === undefined || !text.startsWith("-") || text === "-") {
      if (isInput(text ?? source.replaceAll('"', "")) || /^data:/i.test(text ?? "")) break;
      return {};
    }
    const takesNext = interpreter.values?.test(text) === true;
    if (!takesNext && !interpreter.flags.test(text)) throw fromWord(name, source);
    if (interpreter.complete.test(text)) isComplete = true;
    if (takesNext) skipValue(name, words[++index]);
    const module = /^(python|pypy)/.test(name) ? /^-[a-zA-Z]*m(.*)$/s.exec(text) : null;
    if (module === null) continue;
    const called = module[1] || words[index]?.text;
    if (called === undefined || CODE_MODULES.test(called))
      throw fromWord(name, words[index]?.source ?? source);
    return {};
  }
  if (isComplete) return {};
  throw new Unresolvable(`${name} runs code from its input, which cannot be seen here`);
}

function fromWord(name: string, source: string): Unresolvable {
  return new Unresolvable(`${name} may run code by ${shown(source)}, which is not examined`);
}

/** Whether a program runs what a file or an argument in its language says. */
export function isInterpreter(program: string): boolean {
  return INTERPRETERS.some(({ name }) => name.test(program));
}
