import { Judge } from "./judge.js";
import { compileRule, type Rule } from "./rules.js";

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
