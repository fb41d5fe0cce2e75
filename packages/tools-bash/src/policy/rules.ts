import { invalidArgument, matchesName, quote } from "@agent/core/toolkit";
import type { CommandWord } from "./parser.js";

/** A rule of `deny` or `allow`: the words a command begins with, plain or with examples that test it. */
export type PolicyRule = string | PolicyRuleObject;

export interface PolicyRuleObject {
  /** The first words of the command: `"rm"`, `"git push"`, `"npm run build:*"`, `"git push * main"`. */
  readonly command: string;
  /** Commands the rule must match; checked when the config loads. */
  readonly match?: readonly string[];
  /** Commands it must not match. */
  readonly notMatch?: readonly string[];
  /** The message to the model when the rule refuses a command. */
  readonly reason?: string;
}

export interface CommandRule {
  readonly text: string;
  /** `*` alone matches any number of words, and inside a word any part of it. */
  readonly words: readonly string[];
  readonly reason?: string | undefined;
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

const PLAIN_RULE = /^[^\s"'`\\$*?[\]{}()<>|&;#!~]+( [^\s"'`\\$[\]{}()<>|&;#!~]+)*$/;

/**
 * Parses one rule of the config. Throws unless it consists of plain words: otherwise it would match less than its
 * author expects.
 */
export function compileRule(rule: PolicyRule, where: string): CommandRule {
  const {
    command,
    match = [],
    notMatch = [],
    reason,
  } = typeof rule === "string" ? { command: rule } : (rule ?? {});
  if (typeof command !== "string") throw invalidArgument(where, "a string or { command, … }", rule);
  // "npm test *" means the same as "npm test".
  const text = command
    .trim()
    .replace(/\s+/g, " ")
    .replace(/( \*)+$/, "");
  if (!PLAIN_RULE.test(text)) {
    throw new Error(
      `${where} is ${quote(command)}. A rule is the plain words a command begins with, without quotes or operators: "rm" matches rm with any arguments. After the name of the program, * matches any words, or a part of one.`,
    );
  }
  return { text, words: text.split(" "), reason, match, notMatch };
}

// Programs that accept abbreviated subcommands, such as "publ" for "publish".
const ABBREVIATES = /^(npm|hg|ip|tc|bridge|nmcli|btrfs|gem|bundle|rails)$/;

export type Match = "yes" | "maybe" | "no";

/**
 * Whether a deny rule matches. Prefers to match: the name without its directory, options in any order and combination,
 * options before a subcommand skipped; "maybe" if an unknown word decides.
 */
export function matchesDeny(rule: CommandRule, words: readonly CommandWord[]): Match {
  const [name = "", ...rest] = rule.words;
  const given = words[0]?.text;
  if (given === undefined) return "maybe";
  if (commandName(given) !== commandName(name)) return "no";
  const parameters = words.slice(1);
  const results = [
    matchesOperands(
      rest.filter((word) => !word.startsWith("-")),
      parameters,
      ABBREVIATES.test(commandName(name)),
    ),
    ...rest.filter((word) => word.startsWith("-")).map((flag) => matchesFlag(flag, parameters)),
  ];
  if (results.includes("no")) return "no";
  return results.includes("maybe") ? "maybe" : "yes";
}

/** Whether an allow rule matches: word for word from the start, nothing skipped and nothing unknown. */
export function matchesAllow({ words: wanted }: CommandRule, words: readonly CommandWord[]): boolean {
  // How many words of the rule the words so far may have matched.
  let places = skipStars(new Set([0]), wanted);
  for (const { text } of words) {
    if (places.has(wanted.length)) return true;
    const next = new Set<number>();
    for (const place of places) {
      const want = wanted[place] ?? "";
      if (want === "*") next.add(place);
      else if (text !== undefined && matchesName(want, text)) next.add(place + 1);
    }
    places = skipStars(next, wanted);
  }
  return places.has(wanted.length);
}

function skipStars(places: Set<number>, wanted: readonly string[]): Set<number> {
  for (const place of places) if (wanted[place] === "*") places.add(place + 1);
  return places;
}

const WILDCARD = /[*?]/;

/** The base name of a program. Some file systems are case-insensitive. */
export function commandName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** Whether the arguments of a program begin with these words, options between them skipped. */
export function leadsWith(wanted: readonly string[], parameters: readonly CommandWord[]): boolean {
  return matchesOperands(wanted, parameters) === "yes";
}

// "git -C dir push": an option before the subcommand may or may not take the next word as its value. Processed from
// last to first, so that each word is examined once: trying both ways at each option would take exponential time.
function matchesOperands(
  wanted: readonly string[],
  words: readonly CommandWord[],
  abbreviates = false,
): Match {
  const atEnd = wanted.map(
    (_, index): Match => (wanted.slice(index).every((want) => want === "*") ? "yes" : "no"),
  );
  atEnd.push("yes");
  // How the rule, from each of its words on, matches what begins at the next word and at the one after it.
  let next: readonly Match[] = atEnd;
  let afterNext: readonly Match[] = atEnd;
  for (const { text } of words.toReversed()) {
    const here: Match[] = [...wanted.map(() => "no" as const), "yes"];
    for (let index = wanted.length - 1; index >= 0; index--) {
      const want = wanted[index] ?? "";
      const match = (): Match => {
        if (want === "*") return better(here[index + 1], next[index]);
        if (text === undefined) return "maybe";
        const found = matchesName(want, text) ? next[index + 1] : "no";
        if (found !== undefined && found !== "no") return found;
        if (abbreviates && text !== "" && want.startsWith(text) && next[index + 1] !== "no") return "maybe";
        if (!text.startsWith("-")) return "no";
        return (next[index] === "no" ? afterNext[index] : next[index]) ?? "no";
      };
      here[index] = match();
    }
    afterNext = next;
    next = here;
  }
  return next[0] ?? "yes";
}

function better(one: Match = "no", other: Match = "no"): Match {
  if (one === "yes" || other === "yes") return "yes";
  return one === "maybe" || other === "maybe" ? "maybe" : "no";
}

function matchesFlag(flag: string, words: readonly CommandWord[]): Match {
  // After an option, "--" may be the value of that option.
  const end = words.findIndex(
    (word, index) => word.text === "--" && !words[index - 1]?.text?.startsWith("-"),
  );
  const options = end === -1 ? words : words.slice(0, end);
  const texts = options.flatMap(({ text }) => (text === undefined ? [] : [text]));
  if (WILDCARD.test(flag)) {
    if (texts.some((text) => matchesName(flag, text))) return "yes";
    return options.some(({ text }) => text === undefined || text.startsWith("-")) ? "maybe" : "no";
  }
  const isMatch = flag.startsWith("--") ? hasLongFlag(flag, texts) : hasShortFlag(flag, texts);
  if (isMatch) return "yes";
  const isUnknown = texts.length < options.length;
  return isUnknown || mayHaveOtherForm(flag, texts) ? "maybe" : "no";
}

// "--force", "--force=x", and "--for", which GNU programs accept for it.
function hasLongFlag(flag: string, texts: readonly string[]): boolean {
  return texts.some((text) => {
    const name = text.split("=", 1)[0] ?? "";
    return name.length > 2 && name.startsWith("--") && flag.startsWith(name);
  });
}

// "-rf", "-fr", "-r -f" are equivalent; "-delete" is a separate word.
function hasShortFlag(flag: string, texts: readonly string[]): boolean {
  if (texts.includes(flag)) return true;
  const letters = flag.slice(1);
  if (letters.length > 3) return false;
  const given = clusters(texts);
  return [...letters].every((letter) => given.includes(letter));
}

/** "-f" may be short for "--force", and "--recursive" long for "-r": only the letter is known. */
function mayHaveOtherForm(flag: string, texts: readonly string[]): boolean {
  const given = clusters(texts);
  if (flag.startsWith("--")) return given.includes(flag[2] ?? "");
  if (flag.length > 4) return false;
  const initials = texts.filter((text) => /^--\w/.test(text)).map((text) => text[2]?.toLowerCase());
  return [...flag.slice(1)].every(
    (letter) => given.includes(letter) || initials.includes(letter.toLowerCase()),
  );
}

function clusters(texts: readonly string[]): string {
  return texts.filter((text) => /^-[^-]/.test(text)).join("");
}
