import { newlinesBetween } from "@agent/core/toolkit";
import { codeOf, literalLines } from "./code.js";
import type { FileKind } from "./fileKind.js";
import { contentLines } from "./textLines.js";

/** Both texts of an edit in another interpretation, and what was changed. */
export interface Rewritten {
  readonly oldText: string;
  readonly newText: string;
  /** What was removed from both texts: `line numbers`. */
  readonly without: string;
  /** Whether the texts are whole lines, so that a part of a line is not what they mean. */
  readonly isLines?: boolean;
  /** The number of the first line, if it has to be the number of the line in the file. */
  readonly line?: number;
  /** Why the new text cannot be interpreted the same way, although the old one can. */
  readonly problem?: string;
}

const NUMBERED = /^[ \t]*(?:L(?=\d+:))?(\d{1,7})(?:\t|→|\||│| [|│] ?|(:)[ \t]?)/;
const CERTAINLY_NUMBERED = /^[ \t]*(?:\d{1,7}(?:\t|→|│)|L\d{1,7}:)/;
const FENCED = /^\s*(```+|~~~+)[^\n`]*\n([\s\S]*?)\n?[ \t]*\1\s*$/;
const FENCE_LINE = /^\s*(?:```+|~~~+)[\w+-]*\s*\n|\n[ \t]*(?:```+|~~~+)\s*$/;
const WRAPPED =
  /^<{5,} (?:SEARCH|ORIGINAL)|^>{5,} (?:REPLACE|UPDATED)|^\s*<(?:new|old)_(?:text|str|string)>/m;
/** A sentence of an answer before the code: `Here is the updated function:` */
const INTRODUCED =
  /^\s*(?:here(?:'s| is| are)|sure[,!.]|certainly[,!.]|updated (?:code|version))[^\n]*:[ \t]*\n/i;
/** The end of a call, of an answer or of another format of edits, as the last line. */
const LEAKED =
  /(?:^|\n)[ \t]*(<\/(?:antml:)?(?:(?:new|old)_(?:text|str|string)|parameter|invoke|function_calls|tool_call)>|\*{3} End Patch|={7}|>{7}.*)\s*$|(<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text)\|>)\s*$/;
/** A statement in quotes: `"run();"`. */
const QUOTED_STATEMENT = /^\s*(["'`])(?!\1)[\s\S]*[;}]\s*\1\s*$/;
/** Numbers without a mark, or as of a list: `12 run();`, `12. run();` */
const LISTED = /^[ \t]*(\d{1,7})(?:[.)]?[ \t]+|:[ \t]?)(\S.*)$/;
/** Characters that show nothing. No language has them in its code. */
const UNSEEN = /[\u200b\u2060\ufeff]/;
const UNSEEN_IN_CODE = /[\u200b\u2060\ufeff\uff02\uff07\uff08\uff09\uff0c\uff1a\uff1b\uff1d\uff5b\uff5d]/;
/** A typographic quote where the value of an attribute begins. */
const TYPOGRAPHIC_ATTRIBUTE = /<[\w.-]+(?:\s[^<>]*?)?\s[\w:.@-]+=[“”‘’]/;
const DOUBLE_ENTITY = /&amp;(?:lt|gt|quot|apos|amp|#\d{2,3}|#x[0-9a-f]{2});/gi;
const TAGGED = /^\s*<(content|replacement|replace)>[\s\S]*<\/\1>\s*$/;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
const ENTITY = /&(?:(lt|gt|quot|apos|amp)|#(\d{2,3})|#x([0-9a-f]{2}));/gi;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "\\": "\\",
};
/** A string, with the letters before it: `r"\d"` and `@"C:\new"` are raw. */
const STRING = /((?<!\w)\w{0,2}@?)?(["'])(?:\\.|(?!\2)[^\\\n])*\2/g;
/** An entity where an expression is expected, or between two: `&lt` is the address of `lt` in C. */
const ENTITY_IN_CODE =
  /&(?:quot|apos|#\d{2,3}|#x[0-9a-f]{2});|&amp;&amp;|[=-]&gt;|[\w)\]] &(?:lt|gt|amp);|\w&lt;[^;&\n]*&gt;/i;
const STRING_WITH_BREAK = /(["'])(?:\\.|(?!\1)[^\\\n])*\\n/;
/** Strings and comments that end in their line. */
const CLOSED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/.*|(?<=^|\s)#.*|\/\*.*?\*\//g;
/** A literal `\n` where a line of settings, a declaration or a tag begins. */
const BREAK_IN_LINE = /[;{}]\\n\s*[\w.#@}-]|>\\n\s*</;
const BREAK_IN_DATA = /^\s*[\w.-]+:\s.*\\n\s*[\w.-]+:\s/;
const ESCAPE = /\\([ntr"'\\])/g;
/** Escapes where a statement begins or ends. codeOf leaves NUL where a string starts, so a quote is found as well. */
const ESCAPE_IN_CODE = /(?<=(?:^|(?<!\\)[;{}),])\s*)\\[ntr]|\\(?:[\0`]|u00[0-9a-f]{2})/i;

/** Other interpretations of an edit whose old text was not found: text that models wrapped or encoded once too often. */
export function rewrittenTexts(oldText: string, newText: string, isDocument: boolean): Rewritten[] {
  // In a document a fence is part of the text.
  const rewrites = [withoutNumbers, ...(isDocument ? [] : [withoutFences]), withoutEntities, withoutEscapes];
  return rewrites.flatMap((rewrite) => rewrite(oldText, newText) ?? []);
}

/**
 * Why a new text should not be written verbatim, if it is clearly not what the caller meant. `before` and
 * `after` are the text of the file around the edit.
 */
export function newTextProblem(
  oldText: string,
  newText: string,
  kind: FileKind,
  before: string,
  after: string,
): string | undefined {
  // A part of a line may be inside a string.
  const inLine = (text: string): string =>
    before.slice(before.lastIndexOf("\n") + 1) + text + (/^[^\r\n]*/.exec(after)?.[0] ?? "");
  const isProse = kind.isDocument || kind.isMarkup || kind.isInLiteral;
  if (!isProse && FENCED.test(newText) && !/```|~~~/.test(oldText)) return "is inside a Markdown fence";
  if (!isProse && FENCE_LINE.test(newText) && !/```|~~~/.test(oldText)) return "has a Markdown fence";
  if (!kind.isDocument && WRAPPED.test(newText) && !WRAPPED.test(oldText)) return "has marks around the text";
  if (!isProse && newText.trimStart().startsWith("<![CDATA[")) return "is inside a CDATA section";
  if (!isProse && TAGGED.test(newText)) return "is inside a tag";
  if (!isProse && !kind.isData && INTRODUCED.test(newText) && !INTRODUCED.test(oldText))
    return "begins with a sentence to the user";
  if (kind.isPlainCode && !kind.isMarkup && QUOTED_STATEMENT.test(newText) && /[;}]\s*$/.test(oldText))
    return "is inside quotes";
  if (isDiff(oldText, newText, kind.isDocument)) return "is a diff";
  if (leavesOpen(oldText, newText, kind)) return `does not end the string in ${kind.mark} in which it begins`;
  if (!kind.isDocument && isAdded(oldText, newText, before)) return "has a + before every line";
  const isPlain = !kind.isDocument && !kind.isInLiteral;
  const leaked = isPlain ? leakedEnd(newText, () => before + oldText + after) : undefined;
  if (leaked !== undefined) return `ends with ${JSON.stringify(leaked)}, which is not part of the text`;
  const line = (): number => newlinesBetween(before, 0, before.length) + 1;
  if (addsNumbers(oldText, newText, kind, line) || (kind.isPlainCode && listsLines(oldText, newText, line)))
    return "has line numbers";
  if (kind.isMarkup && TYPOGRAPHIC_ATTRIBUTE.test(newText) && !TYPOGRAPHIC_ATTRIBUTE.test(oldText))
    return "has typographic quotes around an attribute";
  if (kind.isMarkup && encodesTwice(oldText, newText)) return "has HTML entities encoded twice";
  const isKnown = (): boolean => entitiesOf(before + after).length > 0;
  if (newText.includes("&") && encodesEntities(inLine(oldText), inLine(newText), kind, isKnown))
    return "has HTML entities where old_text has characters";
  if (!isProse && escapesQuotes(oldText, newText, kind.isPlainCode))
    return "has a backslash before every quote, where old_text has none";
  if (doublesBackslashes(oldText, newText)) return "has two backslashes where old_text has one";
  if (kind.isPlainCode && !kind.isMarkup && breaksString(oldText, newText))
    return "has a line break inside of quotes, where \\n is meant";
  const unseen = kind.isPlainCode && !kind.isMarkup ? unseenInCode(oldText, newText, kind) : undefined;
  if (unseen !== undefined) return `has ${unseen} outside of strings and comments`;
  if (!kind.isDocument && !kind.isInLiteral && escapesBreaks(inLine(oldText), inLine(newText), kind))
    return "has \\n outside of quotes, where a line break is meant";
  const stray = kind.isPlainCode ? escapeInCode(inLine(oldText), inLine(newText), kind) : undefined;
  return stray === undefined ? undefined : `has ${stray} outside of strings and comments`;
}

function withoutNumbers(oldText: string, newText: string): Rewritten | undefined {
  if (!areNumbered(oldText, 1)) return undefined;
  const strip = (text: string): string =>
    text
      .split("\n")
      .map((line) => line.replace(NUMBERED, ""))
      .join("\n");
  const some = contentLines(newText).some((line) => NUMBERED.test(line));
  const every = contentLines(newText).every((line) => NUMBERED.test(line));
  const [, first, colon] = NUMBERED.exec(contentLines(oldText)[0] ?? "") ?? [];
  return {
    oldText: strip(oldText),
    newText: every ? strip(newText) : newText,
    without: "line numbers",
    isLines: true,
    // "404: x" is more often a key of the file than a line number.
    ...(colon !== undefined && { line: Number(first) }),
    ...(some && !every && { problem: "has line numbers in some of its lines only" }),
  };
}

function addsNumbers(oldText: string, newText: string, kind: FileKind, line: () => number): boolean {
  const [written = ""] = contentLines(newText);
  const [, first, colon] = NUMBERED.exec(written) ?? [];
  if (first === undefined || areNumbered(oldText, 1)) return false;
  const isCertain = CERTAINLY_NUMBERED.test(written);
  // "404: x" and "1 | x" are also keys and cells.
  if (kind.isDocument && !isCertain) return false;
  const isInPlace = Number(first) === line() || (!kind.isData && colon === undefined);
  return isInPlace && areNumbered(newText, isCertain ? 1 : 2);
}

/** Whether every line begins with the number that it has in the file, and the first one continues like the old text. */
function listsLines(oldText: string, newText: string, line: () => number): boolean {
  const lines = contentLines(newText).map((one) => LISTED.exec(one));
  const wordOf = (text = ""): string => /^[\s\d.):]*([\p{L}_$][\p{L}\p{N}_$]*)/u.exec(text)?.[1] ?? "";
  const word = wordOf(lines[0]?.[2]);
  if (word === "" || word !== wordOf(oldText) || LISTED.test(contentLines(oldText)[0] ?? "")) return false;
  const first = line();
  return lines.every((one, index) => Number(one?.[1]) === first + index);
}

function encodesTwice(oldText: string, newText: string): boolean {
  const twice = newText.match(DOUBLE_ENTITY)?.length ?? 0;
  if (twice === 0 || oldText.search(DOUBLE_ENTITY) !== -1) return false;
  return entitiesOf(oldText).length > 0 && entitiesOf(newText).length === twice;
}

function areNumbered(text: string, fewest: number): boolean {
  const lines = contentLines(text);
  const numbers = lines.map((line) => Number(NUMBERED.exec(line)?.[1]));
  return (
    lines.length >= fewest &&
    numbers.every(
      (number, index) => Number.isInteger(number) && (index === 0 || number > (numbers[index - 1] ?? 0)),
    )
  );
}

function withoutFences(oldText: string, newText: string): Rewritten | undefined {
  const inner = FENCED.exec(oldText)?.[2];
  if (inner === undefined) return undefined;
  const newInner = FENCED.exec(newText)?.[2] ?? newText;
  return { oldText: inner, newText: newInner, without: "a Markdown fence", isLines: true };
}

/** Whether every line of the new text is marked as added, removed or kept, and the old text is what is not added. */
function isDiff(oldText: string, newText: string, isDocument: boolean): boolean {
  // In a document the old text may be a part of a diff itself.
  if (isDocument && contentLines(oldText).every((line) => /^[-+ ]/.test(line))) return false;
  const lines = contentLines(newText);
  if (!lines.every((line) => /^[-+ ]/.test(line)) || !lines.some((line) => line.startsWith("+")))
    return false;
  const before = lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1).trim());
  return (
    before.length > 0 &&
    before.join("\n") ===
      contentLines(oldText)
        .map((line) => line.trim())
        .join("\n")
  );
}

/** Whether an edit that ends after the string of several lines in which it begins loses the end of that string. */
function leavesOpen(oldText: string, newText: string, { mark, isPlainCode }: FileKind): boolean {
  const isOdd = (text: string): boolean => text.split(mark).length % 2 === 0;
  return isPlainCode && mark.length > 1 && isOdd(oldText) && !isOdd(newText);
}

/** Whether every line has the mark of an added one, before the indentation that old_text has. */
function isAdded(oldText: string, newText: string, before: string): boolean {
  const [lines, old] = [contentLines(newText), contentLines(oldText)];
  const [first = "", was = ""] = [lines[0], old[0]];
  const isWhole = before === "" || before.endsWith("\n");
  const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? "";
  return (
    isWhole &&
    lines.every((line) => line.startsWith("+")) &&
    !old.some((line) => line.startsWith("+")) &&
    /^\+\s*[^\s\d"'`+]/.test(first) &&
    indentOf(first.slice(1)) === indentOf(was)
  );
}

/** A mark at the end of the new text that neither begins in it nor is in the file. */
function leakedEnd(newText: string, file: () => string): string | undefined {
  const [, line, token] = LEAKED.exec(newText) ?? [];
  const mark = line ?? token;
  if (mark === undefined || file().includes(mark)) return undefined;
  const isElement = mark.startsWith("</") && newText.includes(`<${mark.slice(2, -1)}`);
  return isElement ? undefined : mark;
}

function decodeEntities(text: string): string {
  return text.replace(ENTITY, (_, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? "";
    return String.fromCharCode(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal));
  });
}

function withoutEntities(oldText: string, newText: string): Rewritten | undefined {
  if (decodeEntities(oldText) === oldText) return undefined;
  // A raw character next to its entity: the caller encoded only one part.
  const raw = newText.replace(ENTITY, "");
  const isMixed = entitiesOf(newText).some((character) => character !== "&" && raw.includes(character));
  return {
    oldText: decodeEntities(oldText),
    newText: decodeEntities(newText),
    without: "HTML entities",
    ...(isMixed && { problem: "has HTML entities and the characters they stand for" }),
  };
}

function entitiesOf(text: string): string[] {
  return (text.match(ENTITY) ?? []).map(decodeEntities);
}

function withoutEscapes(oldText: string, newText: string): Rewritten | undefined {
  const kinds = new Set([...oldText.matchAll(ESCAPE)].map(([, kind]) => kind));
  if (kinds.size === 0) return undefined;
  const decode = (text: string): string => text.replace(ESCAPE, (_, kind: string) => ESCAPES[kind] ?? kind);
  // An escape that is not in old_text may be intended: "\n" in a string.
  const other = [...newText.matchAll(ESCAPE)].find(([, kind]) => !kinds.has(kind));
  return {
    oldText: decode(oldText),
    newText: decode(newText),
    without: "backslashes that escape characters once too often",
    ...(other && { problem: `has ${other[0]}, which may be meant or escaped once too often` }),
  };
}

/** Whether the new text has entities for characters that the old text contains unencoded, or where code has none. */
function encodesEntities(oldText: string, newText: string, kind: FileKind, isKnown: () => boolean): boolean {
  if (kind.isDocument || entitiesOf(oldText).length > 0) return false;
  // Markup that became text, and a member in PHP.
  const isEncoded = /<\/?\w/.test(oldText) && !newText.includes("<") && /&lt;\/?\w/.test(newText);
  if (kind.isMarkup && ((isEncoded && decodeEntities(newText) !== oldText) || /\$\w+-&gt;/.test(newText)))
    return true;
  const code = codeLines(newText, kind);
  // Operators have a meaning in scripts only, also in markup.
  const isOperator = [/=&gt;/, /&amp;&amp;/].some(
    (operator) => operator.test(code) && oldText.includes(decodeEntities(operator.source)),
  );
  if (isOperator || kind.isMarkup || kind.isInLiteral) return isOperator;
  const isInCode = !kind.isData && ENTITY_IN_CODE.test(codeLines(newText, kind, true));
  if (isInCode && (kind.isPlainCode || !isKnown())) return true;
  return entitiesOf(code).some((character) => oldText.includes(character));
}

/** The code of a text, without literals of several lines. */
function codeLines(text: string, { mark, comments }: FileKind, isMarkup = false): string {
  const lines = text.split("\n");
  const [, ...literals] = literalLines([mark, ...lines], true);
  return lines
    .map((line, index) => (literals[index] === undefined ? codeOf(line, { isMarkup, comments }) : ""))
    .join("\n");
}

function escapesQuotes(oldText: string, newText: string, isPlainCode: boolean): boolean {
  return [`"`, "'", "`", ...(isPlainCode ? ["${"] : [])].some((mark) => {
    const count = (text: string, wanted: string): number => text.split(wanted).length - 1;
    const escaped = count(newText, `\\${mark}`);
    const isNew = count(oldText, mark) > 0 && count(oldText, `\\${mark}`) === 0;
    // Only the backslashes are new: that is the purpose of the edit.
    if (newText.replaceAll(`\\${mark}`, mark) === oldText) return false;
    return isNew && escaped > 0 && escaped === count(newText, mark);
  });
}

/** Whether the new text writes escapes of the old text with two backslashes, and changes something else as well. */
function doublesBackslashes(oldText: string, newText: string): boolean {
  if (newText.replaceAll("\\\\", "\\") === oldText || /\\\\|\b[A-Za-z]:\\/.test(oldText)) return false;
  // An expression becomes a string.
  if (/RegExp\(/.test(newText) && !/RegExp\(/.test(oldText)) return false;
  const [old, made] = [byStrings(oldText), byStrings(newText)];
  // "\d" in quotes is a mistake that the edit corrects.
  const valid = old.inStrings.replace(/\\[^abefnrtuvxNU0]/g, "");
  return doubles(valid, made.inStrings) || doubles(old.others, made.others);
}

/** The strings of a text, and the rest of it with raw strings: the same escape has two forms in them. */
function byStrings(text: string): { readonly inStrings: string; readonly others: string } {
  const strings: string[] = [];
  const others = text.replace(STRING, (string, prefix = "") => {
    if (/[r@]/i.test(prefix)) return string;
    strings.push(string);
    return "";
  });
  return { inStrings: strings.join("\n"), others };
}

function doubles(oldText: string, newText: string): boolean {
  const escapes = new Set([...oldText.matchAll(/\\([a-zA-Z])/g)].map(([, letter]) => letter));
  const doubled = [...newText.matchAll(/\\\\([a-zA-Z])/g)];
  return (
    doubled.some(([, letter]) => escapes.has(letter)) &&
    !/(?<!\\)\\(?!\\)/.test(newText.replaceAll("\\\\", ""))
  );
}

/** Whether a line break ends a string too early, where the old text has `\n` in one. */
function breaksString(oldText: string, newText: string): boolean {
  if (!STRING_WITH_BREAK.test(oldText)) return false;
  const isOpen = (line: string): boolean => /["']/.test(line.replace(CLOSED, ""));
  const lines = newText.split("\n");
  const literals = literalLines(lines, true);
  return lines.some((line, index) => {
    const next = lines[index + 1];
    if (next === undefined || literals[index] !== undefined || literals[index + 1] !== undefined)
      return false;
    return isOpen(line) && !isOpen(`${line}\\n${next}`);
  });
}

/** A character that shows nothing, or the full-width form of a sign, in code that has none. */
function unseenInCode(oldText: string, newText: string, kind: FileKind): string | undefined {
  if (!UNSEEN_IN_CODE.test(newText) || UNSEEN_IN_CODE.test(oldText)) return undefined;
  const code = codeLines(newText, kind);
  const at = code.search(UNSEEN_IN_CODE);
  const found = code[at];
  if (found === undefined) return undefined;
  const number = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return UNSEEN.test(found) ? `the invisible character U+${number}` : JSON.stringify(found);
}

/** A literal `\n` outside of quotes where a line begins, that the old text does not contain. */
function escapesBreaks(oldText: string, newText: string, kind: FileKind): boolean {
  const { isMarkup, isData } = kind;
  if (/\\n/.test(oldText)) return false;
  const [first = "", ...more] = oldText.split("\n");
  // Several lines become one, with the escape where they ended.
  if (more.length > 0 && !newText.includes("\n") && newText.includes("\\n")) {
    if (newText.startsWith(`${first}\\n`)) return true;
    if (kind.isPlainCode && !isMarkup && codeLines(newText, kind).includes("\\n")) return true;
  }
  return codeLines(newText, kind)
    .split("\n")
    .some(
      (line) =>
        (!isMarkup && /\\n(?: {2,}|\\t|\t)/.test(line)) ||
        BREAK_IN_LINE.test(line) ||
        (isData && BREAK_IN_DATA.test(line)),
    );
}

/** An escape outside of strings and comments, which is a syntax error, if the old text has none. */
function escapeInCode(oldText: string, newText: string, kind: FileKind): string | undefined {
  const find = (text: string): string | undefined => {
    const lines = text.split("\n");
    const code = codeLines(text, kind).split("\n");
    const escapes = lines.map((line, index) => {
      const at = code[index]?.search(ESCAPE_IN_CODE) ?? -1;
      return at === -1 ? undefined : line.slice(at, at + 2);
    });
    return escapes.find((found) => found !== undefined);
  };
  return find(oldText) === undefined ? find(newText) : undefined;
}
