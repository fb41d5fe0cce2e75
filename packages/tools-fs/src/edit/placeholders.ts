import { codeOf } from "./code.js";

const DOTS = /\.{3,}|[…⋮⋯]/;
/** Where a comment begins: alone in its line, or after code. */
const COMMENT =
  /(?:^\s*(?:'(?=\s)|\*|REM\b|"""|'''|--+|;+|%+)|(?:^|[\s{(;])(?:\/\/+|#+(?!\w)|\/\*+|<!--|<%#|\{\/\*|\{#|\{-|\(\*))(.*)/;
const STRING = /"(?:\\.|[^"\\])+"|'(?:\\.|[^'\\])+'|`(?:\\.|[^`\\])+`/g;
/** Dots after any marks where code is expected: `[... rest of the code ...]`, `! ...`, `{{!-- ... --}}`. */
const DOTS_FIRST = /^[^\w"'`.…⋮⋯]*((?:\.{3,}|[…⋮⋯]).*)$/;
/** Dots before any word of a comment, perhaps in brackets. */
const BEGINS_WITH_DOTS = /^[\s([<{]*(?:\.{3,}|[…⋮⋯])/;
/** Dots alone in a line, perhaps in brackets. `...)` ends the parameters of a function. */
const ONLY_DOTS = /^(?:(?:\.{3,}|[…⋮⋯])|\[.*\]|\(.*\)|<.*>)$/;
/** `...rest,`, `...state.previous }`, `...(existing ?? [])`, `...(other as Props)}`, `...[other, rest],` */
const SPREAD =
  /^\.{3}(?:[\w$]+(?:\??\.[\w$]+)*\s*(?:$|[^\w\s.…])|\(\s*[\w$.?!]+\s*(?:\?|\|\||&&|=>|[([]|\)\s*[,;)\]}]|as [A-Z{])|\[[^\]]*\]\s*[,;)\]}])/;
/** Dots alone as a block: `{ ... }`. */
const EMPTY_BLOCK = /\{\s*(?:\.{3,}|…)\s*\}/;
/** Dots in place of an item or an argument, which JavaScript does not allow: `[..., last]`. */
const EMPTY_ITEM = /[[({,]\s*(?:\.{3,}|…)\s*[\])},]/;
const SCRIPT = /\.[cm]?[jt]s$/i;
/** Words of which one is in every comment that replaces code. */
const MARKERS = wordSet(
  "existing rest remaining unchanged unmodified untouched omitted truncated snip snipped same as-is changes continues",
);
/** Words that are markers only next to dots or code: `# Other options` is a heading. */
const WEAK_MARKERS = wordSet("previous original other more keep here");
/** Further words of such comments. A comment with any other word is a real comment. */
const FILLERS = wordSet(
  "the of this that and is are was remains remain stays stay as before above below no not for brevity goes to be with everything else all your current code file function functions method methods class classes implementation implementations body logic import imports content contents items item fields field properties props tests test cases styles rules config options component components page script section block lines line part parts stuff handlers routes variables declarations definitions statements elements entries module document settings args arguments params parameters attributes columns keys steps jobs services dependencies packages branches types constants todo etc from so on jsx html markup template",
);
const CODE = wordSet("code implementation logic body content contents");
/** With a marker, these are never a description of the code below. */
const CERTAIN_CODE = wordSet("code implementation logic imports");
const AS_BEFORE = /\b(?:as (?:before|above)|and so on|etc)\b/i;
/** Words next to which the names of what is left out may be: `// unchanged: load, save`. */
const LEFT_OUT = wordSet("unchanged unmodified untouched omitted truncated snipped as-is");
/** The same in other languages, without dots: `// 其余代码保持不变`. */
const ELSEWHERE =
  /其[余他]代码|[现原]有(?:的)?代码|保持不变|代码省略|既存のコード|残りの|以下省略|기존 코드|나머지|생략|остальн|без изменений|restlich|unverändert|resto del|sin cambios|reste du|inchangé|inalterad/i;
const COMMENT_LINE = /^(?:\/\/|\/\*|\*(?:[\s/]|$)|#(?![\w[!])|--\s|<!--)/;
const CLOSING = /^(?:[)}\]]|<\/|(?:end|fi|done|esac)\b)/;
/** A comment in the block that a line opens and closes. */
const ENCLOSED = /\*\/\s*[)}\]]+[;,]?$/;
/** A statement of Python: after it, dots are no body. */
const STATEMENT_BEFORE = /^[^@#].*[^:,([{\\"'\s]$/;
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
  const removed = [...old].filter((line) => !added.has(line) && !COMMENT_LINE.test(line));
  const lost = removed.length;
  const names = new Set(removed.flatMap(wordsOf));
  const others = [...added].filter((line) => !old.has(line)).length - 1;
  const isPython = /\.pyi?$/i.test(path);
  // In Python dots are a body.
  const isBody = isPython && (lost < FEWEST_LOST_IN_PYTHON || /i$/i.test(path) || ABSTRACT.test(newText));
  const isDoctest = isPython && /^\s*>>> /m.test(newText);
  return [...added].find((line, index, lines) => {
    if (old.has(line) || (isDoctest && line.startsWith("..."))) return false;
    const [before = "", next] = [lines[index - 1], lines[index + 1]];
    // After another comment it is the end of a sentence, and before new code it describes that code.
    const isLast = next !== undefined && CLOSING.test(next);
    const isBetween = next === undefined || isLast || old.has(next) || ENCLOSED.test(line);
    const isSentence = isComment(before) && !describedCode(before, oldText);
    const isApart = isBetween && !isSentence;
    const isShorter = lost > others && isApart;
    const isScript = SCRIPT.test(path);
    const mayBeBody = isBody && !(isPython && STATEMENT_BEFORE.test(before));
    const surroundings = { lost, isShorter, isApart, isLast, isPython, isBody: mayBeBody, isScript, names };
    return standsForCode(line, surroundings) && !file.includes(line);
  });
}

function isComment(line: string): boolean {
  return /^(?:#(?![[!])|--|;)/.test(line) || COMMENT_LINE.test(line);
}

/** Whether a comment of the old text was followed by code, so that a new line after it does not continue it. */
function describedCode(comment: string, oldText: string): boolean {
  const lines = oldText.split("\n").flatMap((line) => line.trim() || []);
  const next = lines[lines.indexOf(comment) + 1];
  return lines.includes(comment) && next !== undefined && !isComment(next);
}

interface Surroundings {
  readonly lost: number;
  /** The line neither continues a comment nor describes new code. */
  readonly isApart: boolean;
  /** It is, and fewer lines come than go, not counting it. */
  readonly isShorter: boolean;
  /** The block ends after the line, so that it describes nothing below. */
  readonly isLast: boolean;
  readonly isPython: boolean;
  /** Dots are a body that may be meant. */
  readonly isBody: boolean;
  readonly isScript: boolean;
  /** The words of the lines that the edit deletes. */
  readonly names: ReadonlySet<string>;
}

function standsForCode(line: string, surroundings: Surroundings): boolean {
  const { lost, isShorter, isApart, isLast, isPython, isBody, isScript, names } = surroundings;
  const plain = line.replace(STRING, '""');
  const found = COMMENT.exec(plain);
  const comment = found?.[1];
  if (comment === undefined && lost > 0 && isScript && EMPTY_ITEM.test(codeOf(line))) return true;
  const text = comment ?? DOTS_FIRST.exec(line)?.[1];
  if (text === undefined) return lost > 0 && !isPython && EMPTY_BLOCK.test(codeOf(line));
  const words = wordsOf(text);
  const hasMarker = words.some((word) => MARKERS.has(word) || WEAK_MARKERS.has(word));
  // A comment after a statement describes it.
  const code = plain.slice(0, found?.index) + (/^[{(]/.exec(found?.[0] ?? "")?.[0] ?? "");
  const isAlone = /^$|[{:(]$|\bpass$/.test(code.trim());
  if (DOTS.test(text)) {
    if (comment === undefined && SPREAD.test(text)) return false;
    // "// ... check the answer ..." is not a separate sentence.
    if (comment !== undefined && isAlone && isApart && lost > 0 && BEGINS_WITH_DOTS.test(text)) return true;
    // "# Stop existing containers..." is a real comment.
    if (hasMarker) return (comment !== undefined && BEGINS_WITH_DOTS.test(text)) || isFilling(words);
    if (words.length > 0 || lost === 0) return false;
    if (comment === undefined) return ONLY_DOTS.test(line) && !isBody;
    return !/[^\s.…⋮⋯()[\]<>{}*/-]/.test(text);
  }
  if (comment === undefined || !isAlone) return false;
  if (isShorter && ELSEWHERE.test(text)) return true;
  const isLeftOut = AS_BEFORE.test(text) || words.some((word) => LEFT_OUT.has(word));
  if (!isFilling(isLeftOut ? words.filter((word) => !names.has(word)) : words)) return false;
  const isMarked = words.some((word) => MARKERS.has(word)) || AS_BEFORE.test(text);
  if (isMarked && lost > 0 && words.some((word) => CERTAIN_CODE.has(word))) return true;
  return isShorter && (isMarked || (hasMarker && (isLast || words.some((word) => CODE.has(word)))));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z][a-z'-]*/g) ?? [];
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
