import { QUOTE_MARKS, QUOTED, type Quotes } from "./quotes.js";
import type { RequestRule, Words } from "./types.js";

// A full stop or question mark after the last word ends the sentence; the dots of ".." are a path.
const END = String.raw`(?:,? (?:please|for me|now|thanks|thank you))*(?:(?<=[^.\s])\.|(?<=\S)[!?])?\s*$`;

/** A word or a quoted text that names a file or directory. */
export function path(group: string): string {
  return `(?<${group}>${QUOTED}|[^\\s${QUOTE_MARKS}]+?)`;
}

/** Any text, as short as possible; quotes around it are removed. */
export function text(group: string): string {
  return `(?<${group}>${QUOTED}|\\S[\\s\\S]*?)`;
}

/** A quoted text and nothing else. */
export function quoted(group: string): string {
  return `(?<${group}>${QUOTED})`;
}

const IN = "(?: (?:in|of|at|under|inside|within|from))";
const HERE =
  "(?:here|(?:this|the current|the working|my|the)(?: whole| entire)? (?:directory|folder|dir|project|repo|repository|codebase|code)|(?:all|every)(?: of)?(?: the)? files?|\\.)";
const ANYWHERE = "(?: (?:here|everywhere|anywhere))";

/** ` in src`, ` in the src directory`, ` in this folder`, ` everywhere`, or nothing: the group is then empty. */
export function optionalDirectory(group: string): string {
  return `(?:${IN} ${HERE}|${ANYWHERE}|${IN}(?: the)?(?: (?:directory|folder|dir))? ${path(group)}(?: (?:directory|folder|dir))?)?`;
}

/** As `optionalDirectory`, for up to three places: ` in src and docs`, ` in src, docs or test`. */
export function optionalPlaces(group: string): string {
  const more = (name: string): string =>
    `(?:(?: and|, and| or|,)(?: in)? ${path(name)}(?: (?:directory|folder|dir))?)?`;
  const one = `${IN}(?: the)?(?: (?:directory|folder|dir|directories|folders))? ${path(group)}(?: (?:directory|folder|dir))?`;
  return `(?:${IN} ${HERE}|${ANYWHERE}|${one}${more(`${group}2`)}${more(`${group}3`)}(?: (?:directories|folders))?)?`;
}

/** A rule for a whole sentence, whatever its case; each space stands for any white space. */
export function rule(sentence: string, build: RequestRule["build"]): RequestRule {
  const source = `${sentence}${END}`.replaceAll(" ?", "\\s*").replaceAll(" ", "\\s+");
  return { pattern: new RegExp(`^${source}`, "i"), build };
}

/** The named groups of a match, with the quoted texts back in their places. */
export function words(match: RegExpMatchArray, quotes: Quotes): Words {
  const raw = (name: string): string => match.groups?.[name] ?? "";
  return {
    get: (name) => quotes.inside(raw(name)) ?? quotes.restore(raw(name)),
    has: (name) => raw(name) !== "",
    quoted: (name) => quotes.inside(raw(name)) !== undefined,
  };
}
