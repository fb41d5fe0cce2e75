import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, wordSet } from "./program.js";

// Builtins that run what the command's words do not show (a file, an input, as a shell does that they start when they are
// given no command), or change what later commands mean.
const NEVER_RESOLVED = wordSet(
  ". alias at autoload batch bind compgen complete compopt crontab csh ed emulate enable ex expect fakeroot fc firejail fish functions gdb hash history let lldb login m4 mapfile nameref newgrp nsenter osascript pwsh readarray run-parts runuser screen script setarch setopt shopt source su tcsh tmux unalias unsetopt unshare xonsh zcompile zmodload nu elvish",
);
/** Builtins whose operands are names of variables, some with a value: bash evaluates `a[$(command)]` in a name. */
export const NAMES_VARIABLES = wordSet(
  "export readonly declare typeset local read getopts unset integer float",
);
const TEST_OPERATOR = /^(=|==|!=|<|>|-(eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** Commands of the shell itself that run or change more than they say. */
export function readBuiltin(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  if (NEVER_RESOLVED.has(name))
    throw new Unresolvable(`what ${shown(name)} runs or changes cannot be seen in the command`);
  if (NAMES_VARIABLES.has(name)) checkNames(name, parameters);
  if (name === "test" || name === "[") checkTest(parameters);
  if (name === "set") checkSet(parameters);
  const [first] = parameters;
  if (name === "jobs" && parameters.some(({ text }) => text === undefined || /^-.*x/.test(text)))
    throw new Unresolvable('"jobs -x" runs a command');
  if (name === "printf" && first && (first.text === undefined || /^-./.test(first.text)))
    throw new Unresolvable(
      `the format ${shown(first.source)} of printf could be an option: write printf '%s' …`,
    );
  if (name === "wait" && parameters.some(({ text }) => text?.startsWith("-")))
    throw new Unresolvable('an option of "wait" sets a variable');
  return undefined;
}

function checkNames(name: string, parameters: readonly CommandWord[]): void {
  for (const [index, { text, source, splits }] of parameters.entries()) {
    const isGetopts = name === "getopts" && index !== 1;
    const isAssigned = text === undefined && splits !== true && /^[A-Za-z_]\w*=/.test(source);
    const isName = text !== undefined && /^([A-Za-z_]\w*(=[\s\S]*)?|-[rpfvxgas]+|--|\d+)$/.test(text);
    const isValue =
      /^-[a-z]*[pdnNtu]$/.test(parameters[index - 1]?.text ?? "") && name === "read" && splits !== true;
    if (isGetopts || isAssigned || isName || (isValue && text !== undefined)) continue;
    throw new Unresolvable(
      `${shown(source)} is no plain NAME or NAME="value", and ${name} may evaluate what it stands for`,
    );
  }
}

/** In bash, `test -v name` evaluates a subscript in the name: no unknown word may become the operator. */
function checkTest(parameters: readonly CommandWord[]): void {
  for (const [index, { text, source, splits }] of parameters.entries()) {
    const next = parameters[index + 1];
    const isLast = next === undefined || next.text === "]";
    const isSafe =
      text === undefined
        ? splits !== true && (isLast || TEST_OPERATOR.test(next.text ?? ""))
        : text !== "-v" && text !== "-R";
    if (!isSafe)
      throw new Unresolvable(
        `${shown(source)} in a test may evaluate what it is given: quote it, and compare it with = or -eq`,
      );
  }
}

function checkSet(parameters: readonly CommandWord[]): void {
  for (let index = 0; index < parameters.length; index++) {
    const text = parameters[index]?.text;
    if (text === "--") return;
    if (text !== undefined && /^[-+][eufxC]*o?$/.test(text) && text.length > 1) {
      if (!text.endsWith("o")) continue;
      if (/^(errexit|nounset|xtrace|pipefail|noglob|noclobber)$/.test(parameters[++index]?.text ?? ""))
        continue;
    }
    throw new Unresolvable(
      `"set" with ${shown(parameters[index]?.source ?? "-o")} may change how the shell reads commands`,
    );
  }
}
