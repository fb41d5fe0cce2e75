import { codeOf } from "./code.js";

const DOTS = /\.{3,}|…/;
/** Where a comment begins: alone in its line, or after code. */
const COMMENT =
  /(?:^\s*(?:'(?=\s)|\*|REM\b|"""|'''|--+|;+|%+)|(?:^|[\s{(;])(?:\/\/+|#+(?!\w)|\/\*+|<!--|<%#|\{\/\*|\{#|\{-|\(\*))(.*)/;
const STRING = /"(?:\\.|[^"\\])+"|'(?:\\.|[^'\\])+'|`(?:\\.|[^`\\])+`/g;
/** Dots after any marks where code is expected: `[... rest of the code ...]`, `! ...`, `{{!-- ... --}}`. */
const DOTS_FIRST = /^[^\w"'`.…]*((?:\.{3,}|…).*)$/;
/** Dots alone in a line, perhaps in brackets. `...)` ends the parameters of a function. */
const ONLY_DOTS = /^(?:(?:\.{3,}|…)|\[.*\]|\(.*\)|<.*>)$/;
/** `...rest,`, `...state.previous }`, `...(existing ?? [])`, `...(other as Props)}`, `...[other, rest],` */
const SPREAD =
  /^\.{3}(?:[\w$]+(?:\??\.[\w$]+)*\s*(?:$|[^\w\s.…])|\(\s*[\w$.?!]+\s*(?:\?|\|\||&&|=>|[([]|\)\s*[,;)\]}]|as [A-Z{])|\[[^\]]*\]\s*[,;)\]}])/;
/** Dots alone as a block: `{ ... }`. */
const EMPTY_BLOCK = /\{\s*(?:\.{3,}|…)\s*\}/;
/** Dots in place of an item or an argument, which are no expression in JavaScript: `[..., last]`. */
const EMPTY_ITEM = /[[({,]\s*(?:\.{3,}|…)\s*[\])},]/;
const SCRIPT = /\.[cm]?[jt]s$/i;
/** Words of which one is in every comment that replaces code. */
const MARKERS = wordSet(
  "existing rest remaining unchanged unmodified untouched omitted truncated snip snipped same as-is changes",
);
/** Words that are markers only next to dots or code: `# Other options` is a heading. */
const WEAK_MARKERS = wordSet("previous original other keep here");
/** Further words of such comments. A comment with any other word is a real comment. */
const FILLERS = wordSet(
  "the of this that and is are was remains remain stays stay as before above below no not for brevity goes to be with everything else all your current code file function functions method methods class classes implementation implementations body logic import imports content contents items item fields field properties props tests test cases styles rules config options component components page script section block lines line part parts stuff handlers routes variables declarations definitions statements elements entries module document settings args arguments params parameters attributes columns keys steps jobs services dependencies packages branches types constants todo etc",
);
const CODE = wordSet("code implementation logic body content contents");
/** With a marker, these are never a description of the code below. */
const CERTAIN_CODE = wordSet("code implementation logic");
const AS_BEFORE = /\bas (?:before|above)\b/i;
const COMMENT_LINE = /^(?:\/\/|\/\*|\*(?:[\s/]|$)|#(?!\w)|--\s|<!--)/;
const CLOSING = /^(?:[)}\]]|<\/|(?:end|fi|done|esac)\b)/;
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
  const lost = [...old].filter((line) => !added.has(line) && !COMMENT_LINE.test(line)).length;
  const others = [...added].filter((line) => !old.has(line)).length - 1;
  const isPython = /\.pyi?$/i.test(path);
  // In Python dots are a body.
  const isBody = isPython && (lost < FEWEST_LOST_IN_PYTHON || /i$/i.test(path) || ABSTRACT.test(newText));
  const isDoctest = isPython && /^\s*>>> /m.test(newText);
  return [...added].find((line, index, lines) => {
    if (old.has(line) || (isDoctest && line.startsWith("..."))) return false;
    const [before = "", next] = [lines[index - 1], lines[index + 1]];
    // After another comment it is the end of a sentence, and before new code it describes that code.
    const isBetween = next === undefined || CLOSING.test(next) || old.has(next);
    const isShorter = lost > others && isBetween && !/^(?:\/\/|#|--|;)/.test(before);
    const surroundings = { lost, isShorter, isPython, isBody, isScript: SCRIPT.test(path) };
    return standsForCode(line, surroundings) && !file.includes(line);
  });
}

interface Surroundings {
  readonly lost: number;
  /** Fewer lines come than go, not counting the one in question, which neither continues a comment nor describes code. */
  readonly isShorter: boolean;
  readonly isPython: boolean;
  /** Dots are a body that may be meant. */
  readonly isBody: boolean;
  readonly isScript: boolean;
}

function standsForCode(line: string, { lost, isShorter, isPython, isBody, isScript }: Surroundings): boolean {
  const plain = line.replace(STRING, '""');
  const found = COMMENT.exec(plain);
  const comment = found?.[1];
  if (comment === undefined && lost > 0 && isScript && EMPTY_ITEM.test(codeOf(line))) return true;
  const text = comment ?? DOTS_FIRST.exec(line)?.[1];
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
  const code = plain.slice(0, found?.index) + (/^[{(]/.exec(found?.[0] ?? "")?.[0] ?? "");
  if (comment === undefined || !/^$|[{:(]$|\bpass$/.test(code.trim()) || !isFilling(words)) return false;
  const isMarked = words.some((word) => MARKERS.has(word)) || AS_BEFORE.test(text);
  if (isMarked && lost > 0 && words.some((word) => CERTAIN_CODE.has(word))) return true;
  return isShorter && (isMarked || (hasMarker && words.some((word) => CODE.has(word))));
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
