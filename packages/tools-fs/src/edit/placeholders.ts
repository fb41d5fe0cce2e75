const DOTS = /\.{3,}|…/;
/** Where a comment begins: alone in its line, or after code. */
const COMMENT =
  /(?:^\s*(?:'(?=\s)|\*|REM\b|"""|''')|(?:^|[\s{(;])(?:\/\/+|#+(?!\w)|--+|;+|%+|\/\*+|<!--|<%#|\{\/\*|\{#|\{-|\(\*))(.*)/;
/** Text in brackets where code is expected: `[... rest of the code ...]`. */
const BRACKETED = /^\s*[[(<]?\s*((?:\.{3,}|…).*)$/;
/** Dots alone as a block: `{ ... }`. */
const EMPTY_BLOCK = /\{\s*(?:\.{3,}|…)\s*\}/;
/** Words of which one is in every comment that replaces code. */
const MARKERS = new Set(
  "existing rest remaining unchanged unmodified untouched omitted truncated snip snipped previous original same other keep here as-is changes".split(
    " ",
  ),
);
/** Further words of such comments. A comment with any other word is a real comment. */
const FILLERS = new Set(
  "the of this that and is are was remains remain stays stay as before above below no not for brevity goes to be with everything else all your current code file function functions method methods class classes implementation implementations body logic import imports content contents items item fields field properties props tests test cases styles rules config options component components page script section block lines line part parts stuff handlers routes variables declarations definitions statements elements entries module document etc".split(
    " ",
  ),
);
// A body of "..." is valid Python; it is a placeholder if it replaces more than a few lines.
const FEWEST_LOST_IN_PYTHON = 3;

/**
 * Finds a line of the new text that is a placeholder for code which the edit would delete. A line that the old text or
 * the file also contains is meant literally. `path` identifies Python, in which dots are an expression.
 */
export function findPlaceholder(
  oldText: string,
  newText: string,
  file: string,
  path: string,
): string | undefined {
  const [old, added] = [linesIn(oldText), linesIn(newText)];
  const lost = [...old].filter((line) => !added.has(line)).length;
  const others = [...added].filter((line) => !old.has(line)).length - 1;
  return [...added].find(
    (line) => standsForCode(line, lost, lost > others, path) && !old.has(line) && !file.includes(line),
  );
}

/** `isShorter`: fewer lines come than go, not counting this one. */
function standsForCode(line: string, lost: number, isShorter: boolean, path: string): boolean {
  const isPython = /\.pyi?$/i.test(path);
  const comment = COMMENT.exec(line)?.[1];
  const text = comment ?? BRACKETED.exec(line)?.[1];
  if (text === undefined) return lost > 0 && !isPython && EMPTY_BLOCK.test(line);
  const words = text.toLowerCase().match(/[a-z][a-z'-]*/g) ?? [];
  const hasMarker = words.some((word) => MARKERS.has(word));
  if (DOTS.test(text)) {
    if (hasMarker) return comment !== undefined || isFilling(words);
    if (words.length > 0 || lost === 0) return false;
    // Nothing but dots, perhaps in brackets.
    if (/[^\s.…()[\]<>{}*/-]/.test(text)) return false;
    return comment !== undefined || !isPython || (lost >= FEWEST_LOST_IN_PYTHON && path.endsWith(".py"));
  }
  return isShorter && comment !== undefined && hasMarker && isFilling(words);
}

function isFilling(words: readonly string[]): boolean {
  return words.every((word) => MARKERS.has(word) || FILLERS.has(word));
}

function linesIn(text: string): Set<string> {
  return new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
}
