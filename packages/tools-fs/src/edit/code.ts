// A longer line is not written by hand, and the expression below is not linear on every text.
const LONGEST_LINE = 1000;

const STRINGS = [
  /"(?:\\.|[^"\\])*(?:"|$)/,
  /`(?:\\.|[^`\\])*(?:`|$)/,
  // A lifetime in Rust. Another mark without a partner is an apostrophe.
  /(?<=[&<])'\w+\b(?!')/,
  /'(?:\\.|[^'\\])*'/,
];
const EXPRESSION =
  /\/(?<=(?:^|=>|[=(,:;!&|?{}[+~]|\b(?:return|yield|case|await|typeof))\s*\/)(?![/*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+\//;
const BLOCK = /\/\*.*?(?:\*\/|$)/;
/** Strings, regular expressions and comments, by the marks that most languages share. */
const NOT_CODE = anyOf([
  ...STRINGS,
  EXPRESSION,
  BLOCK,
  /(?:\/\/|<!--|(?<=^|\s)(?:#|--|;;|%)|\*(?<=^\s*\*)(?=\s|$)).*/,
]);
/** The same where the marks of comments are known. */
const NOT_CODE_BY_COMMENTS = {
  hash: anyOf([...STRINGS, /(?<=^|\s)#.*/]),
  slashes: anyOf([...STRINGS, EXPRESSION, BLOCK, /(?:\/\/|\*(?<=^\s*\*)(?=\s|$)).*/]),
};
const IN_MARKUP = />[^<>{}]+(?=<|\{|$)/g;

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "g");
}

/** What `codeOf` has to know about a language. */
export interface CodeKind {
  /** Text between tags is prose. */
  readonly isMarkup?: boolean;
  /** What its comments begin with, if that is known. */
  readonly comments?: "hash" | "slashes" | undefined;
}

/**
 * The line with NUL in place of every character of a string, a regular expression, a comment or, in markup, the text
 * between tags. Positions stay the same.
 */
export function codeOf(line: string, { isMarkup = false, comments }: CodeKind = {}): string {
  const hide = (text: string): string => "\0".repeat(text.length);
  // Of a longer line nothing is known to be code.
  if (line.length > LONGEST_LINE) return hide(line);
  const code = line.replace(comments ? NOT_CODE_BY_COMMENTS[comments] : NOT_CODE, hide);
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
