/** A string of several lines, or of one line in the same marks. */
interface Literal {
  /** The mark that opens it. */
  readonly mark: string;
  /** Where its content begins and ends. */
  readonly start: number;
  readonly end: number;
}

/** What a language has besides code. Where nothing is known, only the marks are looked for. */
interface Syntax {
  /** The marks of strings of several lines. */
  readonly marks: readonly string[];
  /** The mark of a comment that ends with its line. */
  readonly line?: string;
  readonly hasBlockComments?: true;
  readonly hasStrings?: true;
  readonly hasRegExps?: true;
  /** Whether `'` begins a single character, and `r#"` a string without escapes. */
  readonly isRust?: true;
}

const C_LIKE = { line: "//", hasBlockComments: true, hasStrings: true } as const;
const SYNTAXES: readonly (readonly [RegExp, Syntax])[] = [
  [/\.([cm]?[jt]sx?|vue|svelte|astro)$/i, { ...C_LIKE, marks: ["`"], hasRegExps: true }],
  [/\.go$/i, { ...C_LIKE, marks: ["`"] }],
  [/\.pyi?$/i, { marks: ['"""', "'''"], line: "#", hasStrings: true }],
  [/\.(java|kts?|swift|scala|cs|dart|groovy|gradle)$/i, { ...C_LIKE, marks: ['"""', "'''"] }],
  // Every string in Rust may have several lines.
  [/\.rs$/i, { marks: ['"'], line: "//", hasBlockComments: true, isRust: true }],
  [/\.(c|h|cc|cpp|hpp)$/i, { ...C_LIKE, marks: [] }],
];
const UNKNOWN: Syntax = { marks: ['"""', "'''", "`"] };
const STRINGS = { '"': /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?/y, "'": /'[^'\\\n]*(?:\\.[^'\\\n]*)*'/y };
const CHARACTER = /'(?:\\[^\n]|[^'\\\n])'/y;
const REGEXP =
  /\/(?<=(?:^|=>|[=(,:;!&|?{}[+~]|\b(?:return|yield|case|await|typeof))[ \t]*\/)(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//my;

/** Finds the literal that a position is inside of. */
export type LiteralFinder = (position: number) => Literal | undefined;

/** Reads the text as far as it is asked about. It starts again for a position before the last one. */
export function literalFinder(text: string, path: string): LiteralFinder {
  const syntax = SYNTAXES.find(([pattern]) => pattern.test(path))?.[1] ?? UNKNOWN;
  const begins = beginsOf(syntax);
  let literal: Literal | undefined;
  let [begin, next] = [0, 0];
  return (position) => {
    if (position < begin) [begin, next] = [0, 0];
    while (next <= position) {
      begins.lastIndex = begin = next;
      const found = begins.exec(text);
      literal = undefined;
      if (!found) {
        next = Infinity;
        break;
      }
      const [mark, hashes] = found;
      const start = found.index + mark.length;
      if (hashes !== undefined) {
        const closing = `"${hashes}`;
        literal = { mark, start, end: positionOf(text, closing, start) };
        next = literal.end + closing.length;
      } else if (syntax.marks.includes(mark)) {
        literal = { mark, start, end: endOfLiteral(text, mark, start) };
        next = literal.end + mark.length;
      } else next = endOf(text, mark, found.index, syntax);
    }
    const isInside = literal && position >= literal.start && position <= literal.end;
    return isInside ? literal : undefined;
  };
}

/** Finds where a literal, a comment or a string begins. */
function beginsOf({ marks, line, hasBlockComments, hasStrings, hasRegExps, isRust }: Syntax): RegExp {
  const parts = [
    ...(isRust ? ['\\bb?r(#*)"', "'"] : []),
    ...marks,
    ...(line === undefined ? [] : [line]),
    ...(hasBlockComments ? ["/\\*"] : []),
    ...(hasStrings ? ['"', "'"] : []),
    ...(hasRegExps ? ["/"] : []),
  ];
  return new RegExp(parts.join("|"), "g");
}

/** The position of the next mark that is not escaped. */
function endOfLiteral(text: string, mark: string, start: number): number {
  let end = text.indexOf(mark, start);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf(mark, end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, position: number): boolean {
  let before = position;
  while (text[before - 1] === "\\") before--;
  return (position - before) % 2 === 1;
}

/** The position after a comment, a string or a regular expression; after the mark itself, if it begins none. */
function endOf(text: string, mark: string, start: number, { isRust }: Syntax): number {
  if (mark === "/*") return endAfter(text, "*/", start + mark.length);
  if (mark === "//" || mark === "#") return endAfter(text, "\n", start);
  const strings = isRust ? { ...STRINGS, "'": CHARACTER } : STRINGS;
  const pattern = mark === '"' || mark === "'" ? strings[mark] : REGEXP;
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start + 1;
}

function endAfter(text: string, mark: string, start: number): number {
  return Math.min(text.length, positionOf(text, mark, start) + mark.length);
}

function positionOf(text: string, mark: string, start: number): number {
  const found = text.indexOf(mark, start);
  return found === -1 ? text.length : found;
}
