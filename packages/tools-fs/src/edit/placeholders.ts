import { codeOf } from "./code.js";

const DOTS = /\.{3,}|…/;
/** Where a comment begins: alone in its line, or after code. */
const COMMENT =
  /(?:^\s*(?:'(?=\s)|\*|REM\b|"""|'''|--+|;+|%+)|(?:^|[\s{(;])(?:\/\/+|#+(?!\w)|\/\*+|<!--|<%#|\{\/\*|\{#|\{-|\(\*))(.*)/;
const STRING = /"(?:\\.|[^"\\])+"|'(?:\\.|[^'\\])+'|`(?:\\.|[^`\\])+`/g;
/** Text in brackets where code is expected: `[... rest of the code ...]`. */
const BRACKETED = /^\s*[[(<]?\s*((?:\.{3,}|…).*)$/;
/** Dots alone in a line, perhaps in brackets. `...)` ends the parameters of a function. */
const ONLY_DOTS = /^(?:(?:\.{3,}|…)|\[.*\]|\(.*\)|<.*>)$/;
/** `...rest,`, `...state.previous }` */
const SPREAD = /^\.{3}[\w$]+(?:\??\.[\w$]+)*\s*(?:$|[^\w\s.…])/;
/** Dots alone as a block: `{ ... }`. */
const EMPTY_BLOCK = /\{\s*(?:\.{3,}|…)\s*\}/;
/** Words of which one is in every comment that replaces code. */
const MARKERS = wordSet(
  "existing rest remaining unchanged unmodified untouched omitted truncated snip snipped same as-is changes",
);
/** Words that are markers only next to dots or code: `# Other options` is a heading. */
const WEAK_MARKERS = wordSet("previous original other keep here");
/** Further words of such comments. A comment with any other word is a real comment. */
const FILLERS = wordSet(
  "the of this that and is are was remains remain stays stay as before above below no not for brevity goes to be with everything else all your current code file function functions method methods class classes implementation implementations body logic import imports content contents items item fields field properties props tests test cases styles rules config options component components page script section block lines line part parts stuff handlers routes variables declarations definitions statements elements entries module document etc",
);
const CODE = wordSet("code implementation logic body content contents");
// A body of "..." is valid Python; it is a placeholder if it replaces more than a few lines.
const FEWEST_LOST_IN_PYTHON = 3;
const ABSTRACT = /\b(?:Protocol|overload|abstractmethod|ABC)\b/;

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
  const isPython = /\.pyi?$/i.test(path);
  // In Python dots are a body.
  const isBody = isPython && (lost < FEWEST_LOST_IN_PYTHON || /i$/i.test(path) || ABSTRACT.test(newText));
  return [...added].find((line, index, lines) => {
    // After another comment it is the end of a sentence.
    const isShorter = lost > others && !/^(?:\/\/|#|--|;)/.test(lines[index - 1] ?? "");
    return (
      standsForCode(line, { lost, isShorter, isPython, isBody }) && !old.has(line) && !file.includes(line)
    );
  });
}

interface Surroundings {
  readonly lost: number;
  /** Fewer lines come than go, not counting the one in question, which does not continue a comment. */
  readonly isShorter: boolean;
  readonly isPython: boolean;
  /** Dots are a body that may be meant. */
  readonly isBody: boolean;
}

function standsForCode(line: string, { lost, isShorter, isPython, isBody }: Surroundings): boolean {
  const found = COMMENT.exec(line.replace(STRING, '""'));
  const comment = found?.[1];
  const text = comment ?? BRACKETED.exec(line)?.[1];
  if (text === undefined) return lost > 0 && !isPython && EMPTY_BLOCK.test(codeOf(line));
  const words = text.toLowerCase().match(/[a-z][a-z'-]*/g) ?? [];
  const hasMarker = words.some((word) => MARKERS.has(word) || WEAK_MARKERS.has(word));
  if (DOTS.test(text)) {
    if (comment === undefined && SPREAD.test(text)) return false;
    // "# Stop existing containers..." is a real comment.
    if (hasMarker) return (comment !== undefined && /^[\s([<]*(?:\.{3,}|…)/.test(text)) || isFilling(words);
    if (words.length > 0 || lost === 0) return false;
    if (comment === undefined) return ONLY_DOTS.test(line) && !isBody;
    return !/[^\s.…()[\]<>{}*/-]/.test(text);
  }
  // A comment after a statement describes it.
  const isAlone = /^$|[{:(]$/.test(line.slice(0, found?.index).trim());
  const isCertain =
    words.some((word) => MARKERS.has(word)) || (hasMarker && words.some((word) => CODE.has(word)));
  return isShorter && comment !== undefined && isAlone && isCertain && isFilling(words);
}

function isFilling(words: readonly string[]): boolean {
  return words.every((word) => [MARKERS, WEAK_MARKERS, FILLERS].some((set) => set.has(word)));
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

function linesIn(text: string): Set<string> {
  return new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
}
