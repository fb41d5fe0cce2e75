import type { CallTarget, Match, PermissionLanguage } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { namedWords } from "./commands.js";
import { Judge } from "./judge.js";
import { type SimpleCommand, simpleCommands } from "./parser.js";
import { type CommandRule, compileRule, matchesAllow, matchesDeny } from "./rules.js";

/**
 * Rule patterns for shell commands: the words that a command begins with, as in the options `deny` and `allow` of this
 * pack. `npm test * && npm run lint *` covers both commands.
 */
export const shellLanguage: PermissionLanguage = {
  check(pattern) {
    try {
      compile(pattern);
      return undefined;
    } catch (error) {
      return errorMessage(error).replace(/\.$/, "");
    }
  },

  match(patterns, targets) {
    const commands = targets.map(readTarget);
    return patterns.map((pattern) => {
      let rules: readonly CommandRule[];
      try {
        rules = compile(pattern);
      } catch {
        return targets.map(() => "maybe" as const);
      }
      return targets.map((target, index) =>
        strongest(rules.map((rule) => match(rule, target, commands[index]))),
      );
    });
  },
};

function compile(pattern: string): CommandRule[] {
  return pattern.split(/\s+&&\s+/).map((part) => compileRule(part, "the pattern"));
}

/** The simple command of a target; `undefined` if it cannot be parsed. */
function readTarget(target: CallTarget): SimpleCommand | undefined {
  if (target.type !== "command") return undefined;
  try {
    // The commands of substitutions precede the command that contains them.
    return simpleCommands(target.text).at(-1);
  } catch {
    return undefined;
  }
}

function match(rule: CommandRule, target: CallTarget, command: SimpleCommand | undefined): Match {
  if (target.type !== "command" || command === undefined) return "maybe";
  const { words, assigned } = command;
  if (!target.open && target.cwd === undefined && assigned.length === 0 && covers(rule, command)) {
    return "covers";
  }
  if (words.length > 0 && matchesDeny(rule, words) === "yes") return "touches";
  try {
    new Judge([rule], undefined).checkScript(target.text);
    return "none";
  } catch {
    return "maybe";
  }
}

function covers(rule: CommandRule, { words }: SimpleCommand): boolean {
  const named = rule.words.findIndex((word) => /[*?]/.test(word));
  return (named === -1 ? rule.words.length : named) >= namedWords(words) && matchesAllow(rule, words);
}

const STRENGTH: readonly Match[] = ["covers", "touches", "maybe", "none"];

function strongest(matches: readonly Match[]): Match {
  return STRENGTH.find((one) => matches.includes(one)) ?? "none";
}
