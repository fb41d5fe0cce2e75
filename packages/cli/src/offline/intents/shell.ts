import { path, quoted, rule, text } from "../grammar.js";
import { isPath } from "../paths.js";
import type { PlannedCall, RequestRule, Words } from "../types.js";

const COMMAND = "(?:run|execute|exec)(?: the)?(?: (?:shell )?command)?:?";
const TIME =
  "(?:,? (?:with (?:a )?timeout (?:of )?|within |for at most )(?<amount>\\d+) ?(?<unit>ms|milliseconds?|s|seconds?|m|minutes?))?";
// "run the tests" is a wish, not a command.
const NOT_A_COMMAND =
  /^(?:a|all|an|any|every|it|my|our|some|that|the|these|this|those|your|tests?|away|out|into|through)\b/i;

export const SHELL_RULES: readonly RequestRule[] = [
  rule(
    `${COMMAND} ${quoted("command")}(?: in(?: the)?(?: (?:directory|folder))? ${path("cwd")})?${TIME}`,
    command,
  ),
  rule(`${COMMAND} ${text("command")}`, (words) =>
    NOT_A_COMMAND.test(words.get("command"))
      ? { hint: 'Give the command itself: run "npm test"' }
      : command(words),
  ),
  rule(`[$!] ?${text("command")}`, command),
];

function command(words: Words): PlannedCall | undefined {
  if (words.get("command").trim() === "" || (words.has("cwd") && !isPath(words, "cwd"))) return undefined;
  return {
    tool: "run_bash",
    args: {
      command: words.get("command"),
      ...(words.has("cwd") && { cwd: words.get("cwd") }),
      ...(words.has("amount") && { timeout: milliseconds(Number(words.get("amount")), words.get("unit")) }),
    },
  };
}

function milliseconds(amount: number, unit: string): number {
  if (/^(?:ms|milli)/i.test(unit)) return amount;
  return amount * (/^m/i.test(unit) ? 60_000 : 1000);
}
