import { formatRule, type Rule } from "@agent/core/host";
import { escapeToLine, misreadings, spellOut } from "@agent/internal";

const LONGEST_SHOWN = 300;
const START = 200;
const END = 60;

/**
 * A rule for a list. The pattern may be a command that a model wrote: it is shown on one line, consecutive blanks are
 * counted because a terminal would wrap them into what looks like further rows, and lookalike characters are named.
 */
export function shownRule(rule: Rule): string {
  const text = formatRule(rule);
  const line = escapeToLine(spellOut(text)).replace(/ {3,}/g, ({ length }) => ` [${length} blanks] `);
  const left = line.length - START - END;
  const shown =
    line.length <= LONGEST_SHOWN
      ? line
      : `${line.slice(0, START)} [… ${left} characters …] ${line.slice(-END)}`;
  return [shown.toWellFormed(), ...misreadings("it", text).map((remark) => `(${remark})`)].join(" ");
}
