// A longer line is not written by hand, and the expression below is not linear on every text.
const LONGEST_LINE = 1000;

/** Strings, regular expressions and comments, by the marks that most languages share. */
const NOT_CODE = new RegExp(
  [
    /"(?:\\.|[^"\\])*(?:"|$)/,
    /`(?:\\.|[^`\\])*(?:`|$)/,
    // A lifetime in Rust. Another mark without a partner is an apostrophe.
    /(?<=[&<])'\w+\b(?!')/,
    /'(?:\\.|[^'\\])*'/,
    /\/(?<=(?:^|=>|[=(,:;!&|?{}[+~]|\b(?:return|yield|case|await|typeof))\s*\/)(?![/*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+\//,
    /\/\*.*?(?:\*\/|$)/,
    /(?:\/\/|<!--|(?<=^|\s)(?:#|--|;;|%)|\*(?<=^\s*\*)(?=\s|$)).*/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);
const IN_MARKUP = />[^<>{}]+(?=<|\{|$)/g;

/**
 * The line with NUL in place of every character of a string, a regular expression, a comment or, with `isMarkup`, the
 * text between tags. Positions stay the same.
 */
export function codeOf(line: string, isMarkup = false): string {
  const hide = (text: string): string => "\0".repeat(text.length);
  // Of a longer line nothing is known to be code.
  if (line.length > LONGEST_LINE) return hide(line);
  const code = line.replace(NOT_CODE, hide);
  return isMarkup ? code.replace(IN_MARKUP, (text) => `>${hide(text.slice(1))}`) : code;
}

/**
 * For each line that starts inside a literal of several lines, or with `withComments` a comment: the index of the line
 * in which it starts.
 */
export function literalLines(lines: readonly string[], withComments = false): (number | undefined)[] {
  let open: { readonly end: (line: string) => boolean; readonly from: number } | undefined;
  return lines.map((line, index) => {
    const from = open?.from;
    if (open !== undefined) {
      if (open.end(line)) open = undefined;
      return from;
    }
    const end = literalEnd(line) ?? (withComments ? commentEnd(line) : undefined);
    if (end !== undefined) open = { end, from: index };
    return undefined;
  });
}

const MARKS = [/"""/g, /'''/g, /(?<!\\)`/g];

/** Returns a function that tells whether a position is inside a literal of several lines. Call it with ascending positions. */
export function literalFinder(text: string): (position: number) => boolean {
  let at = 0;
  const open = MARKS.map(() => false);
  return (position) => {
    const piece = text.slice(at, position);
    for (const [index, mark] of MARKS.entries()) if (isOdd(piece, mark)) open[index] = !open[index];
    at = position;
    return open.includes(true);
  };
}

/** Recognizes the last line of the literal that a line opens; `undefined` if it opens none. */
function literalEnd(line: string): ((line: string) => boolean) | undefined {
  const mark = MARKS.find((one) => isOdd(line, one));
  if (mark !== undefined) return (next) => isOdd(next, mark);
  const tag = /<<[-~]?(["']?)([A-Z_][A-Z_0-9]+)\1/.exec(line)?.[2];
  return tag === undefined ? undefined : (next) => next.trim() === tag;
}

/** Recognizes the last line of the comment that a line opens; `undefined` if it opens none. */
function commentEnd(line: string): ((line: string) => boolean) | undefined {
  return /^\s*\/\*(?!.*\*\/)/.test(line) ? (next) => next.includes("*/") : undefined;
}

function isOdd(text: string, mark: RegExp): boolean {
  return (text.match(mark)?.length ?? 0) % 2 === 1;
}
