import type { ChatTool } from "@agent/core";
import { callByName } from "./generic.js";
import { words } from "./grammar.js";
import { CHANGE_RULES, EDIT_RULES, LIST_RULES, READ_RULES, WRITE_RULES } from "./intents/files.js";
import { SEARCH_FILES_RULES, SEARCH_TEXT_RULES } from "./intents/search.js";
import { HELP_RULE, SESSION_RULES } from "./intents/session.js";
import { SHELL_RULES } from "./intents/shell.js";
import { Quotes } from "./quotes.js";
import type { Declined, Plan, PlannedCall, PlannedRound, RequestRule } from "./types.js";

// In the order in which they are tried: the narrow ones before those that take almost anything.
const RULES: readonly RequestRule[] = [
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

// Longer requests are left to language models; a long text to write goes in quotes, where it does not count.
const MAX_LENGTH = 2000;
const MAX_STEPS = 20;

const PRONOUN =
  /^(\w+)\s+(?:it|that (?:file|folder|directory)|the (?:same|new) (?:file|folder|directory))(?=[\s.!?]|$)/i;

type Reading = readonly PlannedRound[] | Declined | undefined;

/** What a request means. Either all of it is understood, or nothing of it is done. */
export function planRequest(request: string, tools: readonly ChatTool[]): Plan {
  const quotes = new Quotes();
  const sentence = withoutPoliteness(quotes.hide(request));
  if (sentence.length > MAX_LENGTH) {
    return {
      kind: "declined",
      part: request,
      hint: "That is too long for me. Put long texts in quotes, or ask in fewer words.",
    };
  }
  if (HELP_RULE.pattern.test(sentence)) return { kind: "help" };
  const reader = new Reader(quotes, tools);
  const steps: PlannedRound[] = [];
  for (const part of splitSteps(sentence)) {
    const reading = reader.readPart(part, steps.at(-1)?.at(-1));
    if (reading === undefined) return { kind: "declined", part: quotes.restore(part) };
    if ("hint" in reading) return { kind: "declined", part: quotes.restore(part), hint: reading.hint };
    steps.push(...reading);
  }
  if (steps.length === 0 || steps.length > MAX_STEPS) return { kind: "declined", part: request };
  return { kind: "steps", steps };
}

/** Reads the parts of one request. */
class Reader {
  readonly #quotes: Quotes;
  readonly #tools: readonly ChatTool[];
  // Each text is read once: a tool that takes any text would else be tried with every combination of cuts.
  readonly #readings = new Map<string, Reading>();

  constructor(quotes: Quotes, tools: readonly ChatTool[]) {
    this.#quotes = quotes;
    this.#tools = tools;
  }

  /** One part as one step, or as several joined by "and" where each is understood in full. */
  readPart(part: string, last: PlannedCall | undefined): Reading {
    const sentence = this.#referTo(last, withoutPoliteness(part));
    if (!this.#readings.has(sentence)) this.#readings.set(sentence, this.#readSteps(sentence));
    return this.#readings.get(sentence);
  }

  #readSteps(sentence: string): Reading {
    const whole = this.#readStep(sentence);
    if (whole && !("hint" in whole)) return [whole];
    for (const [left, right] of splitAtAnd(sentence)) {
      const first = this.#readStep(left);
      if (!first || "hint" in first) continue;
      const rest = this.readPart(right, first.at(-1));
      if (rest && !("hint" in rest)) return [first, ...rest];
    }
    return whole;
  }

  #readStep(part: string): PlannedRound | Declined | undefined {
    const named = callByName(this.#quotes.restore(part), this.#tools);
    if (named && !("hint" in named)) return [named];
    for (const { pattern, build } of RULES) {
      const match = part.match(pattern);
      const built = match && build(words(match, this.#quotes));
      if (built) return "tool" in built ? [built] : built;
    }
    return named;
  }

  /** "Read it" after "write … to a.txt": what the last step was about. */
  #referTo(last: PlannedCall | undefined, part: string): string {
    const subject = last?.args.destination ?? last?.args.path;
    if (typeof subject !== "string") return part;
    return part.replace(PRONOUN, (_, verb: string) => `${verb} ${this.#quotes.add(`"${subject}"`)}`);
  }
}

// Words before a request that do not change its meaning.
const POLITENESS =
  /^(?:(?:please|now|ok|okay|hey|so|first|next|finally|also|just|agent|and|then)\b[,:]?\s+|(?:can|could|would|will) you(?: please)?\s+|(?:i want you to|i'd like you to|i would like you to|i need you to|go ahead and|let's|let us)\s+)+/i;

const THEN = /(?:\s*[,;.]?\s+(?:and\s+)?|\s*[,;.]\s*)(?:then|after that|afterwards)[,:]?\s+|\s*\n\s*/i;

// "1. write … 2. read …": the numbers of steps, where the text begins with the first.
const NUMBERED = /^1[.)]\s/;

const NUMBER = /(?:^|[\s,;.]+)\d{1,2}[.)]\s+/;

const AND = /\s*,\s*(?:and\s+)?|\s+and\s+/gi;

/** The request without its polite beginning and without white space around it. */
function withoutPoliteness(text: string): string {
  return text.trim().replace(POLITENESS, "").trim();
}

/** The steps of a request: parts joined by "then", numbered, or on lines of their own. Quoted texts are hidden already. */
function splitSteps(text: string): string[] {
  const parts = NUMBERED.test(text) ? text.split(NUMBER) : [text];
  return parts.flatMap((part) => part.split(THEN)).filter((part) => part.trim() !== "");
}

/** Each way to cut a text in two at an "and" or a comma. */
function splitAtAnd(text: string): [left: string, right: string][] {
  return [...text.matchAll(AND)].map((match) => [
    text.slice(0, match.index),
    text.slice(match.index + match[0].length),
  ]);
}
