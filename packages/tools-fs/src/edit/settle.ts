import { checkMargin, tabWriter } from "./indentation.js";
import type { Region } from "./match.js";
import { lineBreakFinder } from "./textLines.js";
import { isTypographic, plainTypography } from "./typography.js";

// Above this many pairs of tokens, only the common prefix and suffix of two texts are compared.
const MAX_PAIRS = 4_000_000;
const TOKEN = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;

/** Both texts of the edit as they were matched. */
export interface EditTexts {
  readonly oldText: string;
  readonly newText: string;
  /** Whether the file is prose, in which quotes are not part of a language. */
  readonly isDocument: boolean;
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
): (region: Region) => Region {
  const { oldText, newText } = edit;
  const hasReturns = newText.includes("\r\n");
  const tabs = tabWriter(oldText, newText, text);
  const lineBreakAt = lineBreakFinder(text);
  const isTypographicEdit = isTypographic(newText) || isTypographic(oldText);
  let last = { found: "", given: "", made: "" };
  return (region) => {
    const { start, end } = region;
    let { replacement } = region;
    const found = text.slice(start, end);
    if (hasReturns && replacement.includes("\n") && !replacement.includes("\r\n")) {
      remarks.add("The line breaks of new_text were written as the file has them.");
    }
    if (!edit.isDocument && newText.includes("\n")) checkMargin(replacement, text, start);
    if (tabs) {
      remarks.add("Spaces that indent new_text were written as tabs, as in the file.");
      replacement = tabs(replacement);
    }
    if (isTypographicEdit || isTypographic(found)) {
      if (last.found !== found || last.given !== replacement) {
        last = { found, given: replacement, made: keepTypography(found, replacement, edit, remarks) };
      }
      replacement = last.made;
    }
    const isCut =
      found.endsWith("\n") && replacement !== "" && !replacement.endsWith("\n") && end < text.length;
    if (isCut && (start === 0 || text[start - 1] === "\n")) {
      remarks.add("The line break at the end of old_text was kept, so that two lines are not joined.");
      replacement += lineBreakAt(start) ?? "\n";
    }
    return replacement === region.replacement ? region : { start, end, replacement };
  };
}

function keepTypography(
  found: string,
  replacement: string,
  { oldText, newText, isDocument }: EditTexts,
  remarks: Set<string>,
): string {
  // Only such characters change: that is the purpose of the edit.
  if (plainTypography(oldText) === plainTypography(newText)) return replacement;
  const isExact = found === oldText || found.replaceAll("\r\n", "\n") === oldText.replaceAll("\r\n", "\n");
  if (isDocument && isExact) return replacement;
  const [a, b] = [tokensOf(found), tokensOf(replacement)];
  const partner = align(a.map(plainTypography), b.map(plainTypography));
  const differing = b.flatMap((token, index) => {
    const own = a[partner[index] ?? -1];
    return own !== undefined && own !== token ? [{ own, token }] : [];
  });
  const old = plainTypography(oldText) === plainTypography(found) ? oldText : "";
  const smartened =
    differing.some(({ token }) => isTypographic(token)) || (isTypographic(old) && !isTypographic(found));
  const straightened = differing.filter(({ own }) => isTypographic(own)).map(({ token }) => token);
  const result = b.map((token, index) => {
    const own = a[partner[index] ?? -1];
    if (own !== undefined) return own;
    if (straightened.includes(token) && /['"]/.test(token) && !isDocument) throw mixedQuotes(token);
    if (smartened && isTypographic(token)) {
      if (straightened.length > 0) throw mixedQuotes(token);
      return plainTypography(token);
    }
    return token;
  });
  const kept = result.join("");
  if (kept !== replacement) remarks.add("Quotes, dashes and spaces were written as the file has them.");
  return kept;
}

function mixedQuotes(token: string): Error {
  return new Error(
    `new_text has ${JSON.stringify(token)} both where the file has a typographic character and in new words; nothing was changed. Copy the characters of the file, and write new ones as you mean them.`,
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
