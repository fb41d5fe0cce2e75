import type { ChatTool } from "@agent/core";
import { callByName } from "./generic.js";
import { words } from "./grammar.js";
import { CHANGE_RULES, EDIT_RULES, LIST_RULES, READ_RULES, WRITE_RULES } from "./intents/files.js";
import { SEARCH_FILES_RULES, SEARCH_TEXT_RULES } from "./intents/search.js";
import { HELP_RULE, SESSION_RULES } from "./intents/session.js";
import { SHELL_RULES } from "./intents/shell.js";
import { splitAtAnd, splitSteps, withoutPoliteness } from "./sentences.js";
import type { Declined, Plan, PlannedCall, Rule, Step } from "./types.js";

// In the order in which they are tried: the narrow ones before those that take almost anything.
const RULES: readonly Rule[] = [
  ...SESSION_RULES,
  ...SHELL_RULES,
  ...EDIT_RULES,
  ...CHANGE_RULES,
  ...WRITE_RULES,
  ...SEARCH_FILES_RULES,
  ...LIST_RULES,
  ...READ_RULES,
  ...SEARCH_TEXT_RULES,
];

type Reading = readonly Step[] | Declined | undefined;

/** What a request means. Either all of it is understood, or nothing of it is done. */
export function planRequest(request: string, tools: readonly ChatTool[]): Plan {
  const sentence = withoutPoliteness(request);
  if (HELP_RULE.pattern.test(sentence)) return { kind: "help" };
  const steps: Step[] = [];
  for (const part of splitSteps(sentence)) {
    const reading = readPart(referTo(steps.at(-1)?.at(-1), withoutPoliteness(part)), tools);
    if (reading === undefined) return { kind: "declined", part };
    if ("hint" in reading) return { kind: "declined", part, hint: reading.hint };
    steps.push(...reading);
  }
  return steps.length === 0 ? { kind: "declined", part: request } : { kind: "steps", steps };
}

/** One part as one step, or as two joined by "and" where both are understood in full. */
function readPart(part: string, tools: readonly ChatTool[]): Reading {
  const whole = readStep(part, tools);
  if (whole && !("hint" in whole)) return [whole];
  for (const [left, right] of splitAtAnd(part)) {
    const first = readStep(left, tools);
    if (!first || "hint" in first) continue;
    const second = readPart(referTo(first.at(-1), withoutPoliteness(right)), tools);
    if (second && !("hint" in second)) return [first, ...second];
  }
  return whole;
}

function readStep(part: string, tools: readonly ChatTool[]): Step | Declined | undefined {
  const named = callByName(part, tools);
  if (named && !("hint" in named)) return [named];
  for (const { pattern, build } of RULES) {
    const match = part.match(pattern);
    const built = match && build(words(match), tools);
    if (built) return "tool" in built ? [built] : built;
  }
  return named;
}

/** "Read it" after "write … to a.txt": what the last step was about. */
function referTo(last: PlannedCall | undefined, part: string): string {
  const subject = last?.args.destination ?? last?.args.path;
  if (typeof subject !== "string") return part;
  return part.replace(
    /^(\w+)\s+(?:it|that (?:file|folder|directory)|the (?:same|new) (?:file|folder|directory))(?=[\s.!?]|$)/i,
    (_, verb: string) => `${verb} "${subject}"`,
  );
}
