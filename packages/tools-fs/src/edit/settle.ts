import type { TextEdit } from "@agent/core/toolkit";
import { codeOf, literalLines } from "./code.js";
import type { FileKind } from "./fileKind.js";
import { checkBody, checkMargin, indentWriter } from "./indentation.js";
import type { LiteralFinder } from "./literals.js";
import { lineBreakFinder } from "./textLines.js";
import { isTypographic, plainTypography } from "./typography.js";

// Above this many pairs of tokens, only the common prefix and suffix of two texts are compared.
const MAX_PAIRS = 4_000_000;
// How much of a line before an edit is read to tell strings from code.
const LONGEST_BEFORE = 1000;
const TYPOGRAPHIC_INDENT = /^[ \t]*[^\S \t\r\n]/m;
const AS_IN_FILE = "Quotes, dashes and spaces were written as the file has them.";
const QUOTE = /['"]/;
/** Typographic quotes around a whole value, where straight ones make it a string. */
const QUOTED_VALUE = /(?:^|[:=[,-])[ \t]*([“‘])[^“”‘’\n]*[”’][ \t]*(?=[,\]}#:]|$)/m;
const DASH = /[\u2010-\u2014\u2212]/;
/** Strings in other marks than quotes: in Lua, Ruby, Elixir and SQL. */
const UNQUOTED = /\[=*\[|%[qQwWiI]?[^\w\s]|~[a-zA-Z]|\$\w*\$/;
const TOKEN = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;

/** Both texts of the edit as they were matched. */
export interface EditTexts extends FileKind {
  readonly oldText: string;
  readonly newText: string;
}

/**
 * Returns a function that adapts a replacement to the file's conventions if the edit did not mean to change them: line
 * endings, indentation by tabs, typographic characters. It adds its changes to `remarks`, and throws if the intent is
 * unclear. An edit may apply at a million places, so everything that does not depend on the place is computed once.
 */
export function regionSettler(
  text: string,
  edit: EditTexts,
  remarks: Set<string>,
  literalAt: LiteralFinder,
): (region: TextEdit) => TextEdit {
  const { oldText, newText } = edit;
  const hasReturns = newText.includes("\r\n");
  const indents = edit.isDocument ? undefined : indentWriter(oldText, newText, text);
  const lineBreakAt = lineBreakFinder(text);
  const isTypographicEdit = isTypographic(newText) || isTypographic(oldText);
  let last = { before: "", found: "", given: "", made: "" };
  return (region) => {
    const { start, end } = region;
    let { replacement } = region;
    const found = text.slice(start, end);
    if (hasReturns && replacement.includes("\n") && !replacement.includes("\r\n")) {
      remarks.add("The line breaks of new_text were written as the file has them.");
    }
    const literal = literalAt(start);
    const isOutside = !edit.isDocument && literal === undefined;
    const isCode = isOutside && newText.includes("\n");
    if (isOutside) replacement = withoutIndent(beforeInLine(text, start), found, replacement, edit, remarks);
    // A part of a string of several lines may continue anywhere; the code after it may not.
    if (isCode || (literal && literal.end < end)) checkMargin(replacement, text, start, end, literal?.mark);
    if (isOutside) checkBody(replacement, text, start, end);
    if (indents && isCode) {
      remarks.add(indents.remark);
      replacement = indents.write(replacement);
    }
    if (isTypographicEdit || isTypographic(found)) {
      const before = beforeInLine(text, start);
      if (isOutside && !TYPOGRAPHIC_INDENT.test(found)) {
        replacement = withPlainIndent(before, replacement, remarks);
      }
      if (last.before !== before || last.found !== found || last.given !== replacement) {
        const made = keepTypography(before, found, replacement, edit, remarks);
        last = { before, found, given: replacement, made };
      }
      replacement = last.made;
    }
    const value = isTypographicEdit && edit.isData && edit.comments && QUOTED_VALUE.exec(replacement)?.[1];
    if (value && !QUOTED_VALUE.test(oldText) && !isTypographic(text)) throw mixedQuotes(value);
    // A blank at the end is where the next line is meant to continue.
    const isCut = found.endsWith("\n") && isSolid(replacement.at(-1)) && /[^\r\n]/.test(text[end] ?? "\n");
    if (isCut && (replacement.includes("\n") || beforeInLine(text, start).trim() === "")) {
      remarks.add("The line break at the end of old_text was kept, so that two lines are not joined.");
      replacement += lineBreakAt(start) ?? "\n";
    }
    const lead = isOutside || edit.isDocument ? leadingBreak(text, start, found, replacement) : "";
    if (lead !== "")
      remarks.add("The line break at the start of old_text was kept, so that two lines are not joined.");
    replacement = lead + replacement;
    return replacement === region.replacement ? region : { start, end, replacement };
  };
}

/**
 * The replacement without the indentation of its first line, if the file has the same before an old text that begins
 * after it: the new text is whole lines then. Throws if it is another one and indentation has a meaning.
 */
function withoutIndent(
  before: string,
  found: string,
  replacement: string,
  { isIndented }: EditTexts,
  remarks: Set<string>,
): string {
  const indent = /^[ \t]+(?=\S)/.exec(replacement)?.[0];
  if (indent === undefined || before === "" || before.trim() !== "" || /^\s/.test(found)) return replacement;
  const contentOf = (text: string): string => text.replace(/^\s+|\s+$/gm, "");
  // Only the indentation changes.
  if (contentOf(replacement) === contentOf(found)) return replacement;
  if (indent === before) {
    remarks.add("The indentation at the start of new_text was written once: old_text begins after it.");
    return replacement.slice(indent.length);
  }
  if (!isIndented) return replacement;
  throw new Error(
    `new_text begins with ${JSON.stringify(indent)}, and old_text begins after ${JSON.stringify(before)} in its line; nothing was changed. Write both texts as whole lines with the file's indentation.`,
  );
}

function isIndentedBy(text: string, indent: string): boolean {
  return text.startsWith(indent) && isSolid(text[indent.length]);
}

/**
 * The line break with the indentation after it at the start of the old text, if the new text would continue the line
 * before. An operator or a bracket may be meant to.
 */
function leadingBreak(text: string, start: number, found: string, replacement: string): string {
  const lead = /^(?:\r?\n)+[ \t]*/.exec(found)?.[0];
  if (lead === undefined || lead === found || !isSolid(text[start - 1])) return "";
  const [, breaks = "", indent = ""] = /^((?:\r?\n)+)([ \t]*)/.exec(found) ?? [];
  // Two blanks may stand before a comment at the end of a line.
  if (/^(?:\t| {2})\s*[^\s#/-]/.test(replacement) || (indent !== "" && isIndentedBy(replacement, indent)))
    return breaks;
  const isContinued = /^(?:[\s.,;:)\]}{?=+*%|&]|-(?! ))|^$/.test(replacement);
  const wasContinued = !isContinued && /^[.,;:)\]}?=+*%|&]/.test(found.slice(lead.length));
  return isContinued || wasContinued ? "" : lead;
}

/** The text with ordinary blanks as indentation: no language takes others. Lines of a literal stay as they are. */
function withPlainIndent(before: string, text: string, remarks: Set<string>): string {
  const lines = text.split("\n");
  const literals = literalLines(lines, true);
  const made = lines.map((line, index) => {
    if (literals[index] !== undefined || (index === 0 && before.trim() !== "")) return line;
    return line.replace(/^\s+/, plainTypography);
  });
  const plain = made.join("\n");
  if (plain !== text) remarks.add(AS_IN_FILE);
  return plain;
}

function isSolid(character: string | undefined): boolean {
  return character !== undefined && character.trim() !== "";
}

/** The last part of the line before a position. A line may be as long as the file, so it is not read as a whole. */
function beforeInLine(text: string, position: number): string {
  const before = text.slice(Math.max(0, position - LONGEST_BEFORE), position);
  return before.slice(before.lastIndexOf("\n") + 1);
}

/**
 * Returns the replacement of `found` with the typographic characters of the file where the edit did not mean to change
 * them. Throws if the intent is unclear. `before` is the part of the line before `found`.
 */
export function keepTypography(
  before: string,
  found: string,
  replacement: string,
  edit: EditTexts,
  remarks: Set<string>,
): string {
  const { oldText, newText, isDocument, isMarkup, isData, isPlainCode, isOtherCode, mark } = edit;
  // Only such characters change: that is the purpose of the edit.
  if (plainTypography(oldText) === plainTypography(newText)) return replacement;
  const isExact = found === oldText || found.replaceAll("\r\n", "\n") === oldText.replaceAll("\r\n", "\n");
  if (isDocument && isExact) return replacement;
  const [a, b] = [tokensOf(found), tokensOf(replacement)];
  const opened = mark === "" ? before : `${mark}\n${before}`;
  const isCodeInFile = codeTest(opened, found, a, edit);
  const isCode = codeTest(opened, replacement, b, edit);
  const partner = align(a.map(plainTypography), b.map(plainTypography));
  // Who copied the file exactly sees its characters: a dash is then meant to change, a quote that delimits a string
  // if the file has a typographic one, and one inside a string or a comment if the new one is typographic.
  const kept = b.map((token, index) => {
    const at = partner[index];
    const own = at === undefined ? undefined : a[at];
    if (at === undefined || own === undefined || own === token || !isExact || isDocument) return own;
    if (isTypographic(token)) return isCode(index) && !(isData && !QUOTE.test(own)) ? own : token;
    return isCodeInFile(at) || DASH.test(own) ? token : own;
  });
  const differing = b.flatMap((token, index) => {
    const own = kept[index];
    return own !== undefined && own !== token ? [{ own, token }] : [];
  });
  const old = plainTypography(oldText) === plainTypography(found) ? oldText : "";
  const smartened =
    differing.some(({ token }) => isTypographic(token)) || (isTypographic(old) && !isTypographic(found));
  const hasStrings = (isPlainCode && !isMarkup) || (isOtherCode && !UNQUOTED.test(before + replacement));
  const straightened = differing.filter(({ own }) => isTypographic(own)).map(({ token }) => token);
  const result = b.map((token, index) => {
    const own = kept[index];
    if (own !== undefined) return own;
    if (straightened.includes(token) && QUOTE.test(token) && !isDocument) throw mixedQuotes(token);
    if (isTypographic(token) && (smartened || (hasStrings && isCode(index))) && !isApostrophe(b, index)) {
      if (straightened.length > 0) throw mixedQuotes(token);
      return plainTypography(token);
    }
    return token;
  });
  if (b.some((token, index) => token !== result[index] && /[“”‘’]/.test(token))) settlePairs(b, result);
  const unclear = b.find((token, index) => {
    if (token === result[index] || !DASH.test(token) || !beginsWord(b, index)) return false;
    const at = partner[index];
    // A letter after a new one is an option of one dash.
    if (at === undefined) return (b[index + 1]?.length ?? 0) > 1;
    return a[at - 1] === "-" || a[at + 1] === "-";
  });
  if (unclear !== undefined) throw mixedQuotes(unclear);
  const text = result.join("");
  if (text !== replacement) remarks.add(AS_IN_FILE);
  return text;
}

/** Returns a test whether a token of `text` is code, and not in a string, a comment or the text of markup. */
function codeTest(
  before: string,
  text: string,
  tokens: readonly string[],
  kind: FileKind,
): (index: number) => boolean {
  const lines = (before + text).split("\n");
  const literals = literalLines(lines, true);
  const code = lines
    .map((line, index) => (literals[index] === undefined ? codeOf(line, kind) : "\0".repeat(line.length)))
    .join("\n");
  let end = before.length;
  const starts = tokens.map((token) => {
    end += token.length;
    return end - token.length;
  });
  return (index) => code[starts[index] ?? 0] !== "\0" && !isApostrophe(tokens, index);
}

/** Whether a token is inside a word, as in "it’s". */
function isApostrophe(tokens: readonly string[], index: number): boolean {
  const isLetter = (token = ""): boolean => /\p{L}$/u.test(token);
  return (
    /['\u2019]/.test(tokens[index] ?? "") && isLetter(tokens[index - 1]) && isLetter(tokens[index + 1]?.[0])
  );
}

/** Whether a dash is the mark of an option, which may have been one or two: `—oneline`. */
function beginsWord(tokens: readonly string[], index: number): boolean {
  return !/\S/.test(tokens[index - 1] ?? "") && /[\p{L}\p{N}]/u.test(tokens[index + 1] ?? "");
}

/**
 * Makes both quotes of a pair straight if one of them is. Throws if such quotes are nested or have no partner: straight
 * ones would then end a string too early.
 */
function settlePairs(tokens: readonly string[], result: string[]): void {
  let open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token === "\n") open = [];
    if (isApostrophe(tokens, index)) continue;
    if (token === "“" || token === "‘") {
      if (open.some((at) => tokens[at] === token)) throw mixedQuotes(token);
      open.push(index);
    }
    if (token !== "”" && token !== "’") continue;
    const at = open.pop() ?? -1;
    if (tokens[at] !== (token === "”" ? "“" : "‘")) throw mixedQuotes(token);
    if (result[at] === tokens[at] && result[index] === token) continue;
    for (const one of [at, index]) result[one] = plainTypography(result[one] ?? "");
  }
}

function mixedQuotes(token: string): Error {
  return new Error(
    `new_text has ${JSON.stringify(token)} where it is not clear whether a typographic or a straight character is meant; nothing was changed. Copy the characters of the file, and write new ones as you mean them.`,
  );
}

function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** For each token of `b`, the index of the token of `a` that it corresponds to, by the longest common subsequence. */
function align(a: readonly string[], b: readonly string[]): (number | undefined)[] {
  const partner: (number | undefined)[] = b.map(() => undefined);
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) partner[head] = head++;
  let tail = 0;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) {
    tail++;
    partner[b.length - tail] = a.length - tail;
  }
  const [rows, columns] = [a.length - head - tail, b.length - head - tail];
  if (rows === 0 || columns === 0 || rows * columns > MAX_PAIRS) return partner;
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => longest[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      longest[row * width + column] =
        a[head + row] === b[head + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[head + row] === b[head + column]) partner[head + column++] = head + row++;
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return partner;
}
