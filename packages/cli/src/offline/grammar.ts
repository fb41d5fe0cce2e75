import type { Rule, Words } from "./types.js";

const QUOTED = String.raw`"[^"]*"|'[^']*'|\`[^\`]*\``;
// A full stop or question mark after the last word belongs to the sentence; the dots of ".." do not.
const END = String.raw`(?: please| for me| now| thanks)*(?:(?<=[^.\s])[.!?])?\s*$`;

/** A word or a quoted text that names a file or directory. */
export function path(group: string): string {
  return `(?<${group}>${QUOTED}|[^\\s"'\`]+?)`;
}

/** Anything, as short as possible; quotes around it are taken off. */
export function text(group: string): string {
  return `(?<${group}>${QUOTED}|\\S[\\s\\S]*?)`;
}

/** A quoted text and nothing else. */
export function quoted(group: string): string {
  return `(?<${group}>${QUOTED})`;
}

export const IN = "(?: (?:in|of|at|under|inside|within|from))";
export const HERE =
  "(?:here|(?:this|the current|the working|my|the) (?:directory|folder|dir|project|repo|repository)|\\.)";

/** ` in src`, ` in the src directory`, ` in this folder`, or nothing: the group is then empty. */
export function optionalDirectory(group: string): string {
  return `(?:${IN} ${HERE}| here|${IN}(?: the)?(?: (?:directory|folder|dir))? ${path(group)}(?: (?:directory|folder|dir))?)?`;
}

/** A rule for a whole sentence, whatever its case; each space stands for any white space. */
export function rule(sentence: string, build: Rule["build"]): Rule {
  const source = `${sentence}${END}`.replaceAll(" ?", "\\s*").replaceAll(" ", "\\s+");
  return { pattern: new RegExp(`^${source}`, "i"), build };
}

export function words(match: RegExpMatchArray): Words {
  const raw = (name: string): string => match.groups?.[name] ?? "";
  return {
    get: (name) => unquote(raw(name)),
    has: (name) => raw(name) !== "",
    quoted: (name) => isQuoted(raw(name)),
  };
}

function isQuoted(value: string): boolean {
  return value.length >= 2 && /^(["'`])[\s\S]*\1$/.test(value);
}

function unquote(value: string): string {
  return isQuoted(value) ? value.slice(1, -1) : value;
}
