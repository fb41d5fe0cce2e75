import { Judge } from "./judge.js";
import { isOpenEnded } from "./programs/openEnded.js";
import { compileRule, type Rule } from "./rules.js";
import { type SimpleCommand, simpleCommands } from "./script.js";

const SUBCOMMAND = /^[a-z][\w:-]*$/;
const ANY_ARGUMENT = "x";

/**
 * Whether a command runs only the program that these words begin, and nothing else by an option, an argument or a variable.
 * What cannot be known counts as something else. For hosts that allow commands by their first words.
 */
export function runsOnly(words: readonly string[], command: string): boolean {
  try {
    new Judge([], [compileRule(words.join(" "), "words")], { isStrict: true }).checkScript(command);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a command may turn out to run one that begins with these words. False for words that are no rule of this pack,
 * such as some with quotes: nothing can be said about them. For hosts with rules of their own against commands.
 */
export function mayRun(words: readonly string[], command: string): boolean {
  let rule: Rule;
  try {
    rule = compileRule(words.join(" "), "words");
  } catch {
    return false;
  }
  try {
    new Judge([rule], undefined).checkScript(command);
    return false;
  } catch {
    return true;
  }
}

/**
 * The program of a command and its subcommand, as `npm test` of `npm test -- --watch`. `undefined` for a script of several
 * commands, for one with variables in front of it, and where a rule for these words would allow anything.
 */
export function ruleWords(command: string): readonly string[] | undefined {
  const only = onlyCommand(command);
  const [program, second] = only?.words.map(({ text }) => text) ?? [];
  if (program === undefined || /\s/.test(program) || only?.assigned.length !== 0) return undefined;
  const words = second !== undefined && SUBCOMMAND.test(second) ? [program, second] : [program];
  const isClosed = !isOpenEnded(words) && runsOnly(words, [...words, ANY_ARGUMENT].join(" "));
  return isClosed ? words : undefined;
}

function onlyCommand(script: string): SimpleCommand | undefined {
  try {
    const [first, ...others] = simpleCommands(script);
    return others.length === 0 ? first : undefined;
  } catch {
    return undefined; // not in the grammar that can be judged
  }
}
