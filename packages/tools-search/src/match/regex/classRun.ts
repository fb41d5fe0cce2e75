import { frequencyOfAny, MAX_RUN } from "../needles/needle.js";
import { ASCII_SIZE, characterSet, isOneOfAscii } from "./characterSet.js";

/** A run that is more frequent than once in this many bytes excludes too few lines. */
const RARE = 1 / 500;
/** The probability that a character has the same class as the previous one. */
const SAME_AGAIN = 0.6;

const TOKEN =
  /\\[pP]\{[^}]*\}|\\k<[^>]*>|\\u\{[^}]*\}|\\u.{4}|\\x..|\\c.|\\[1-9]\d*|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const QUANTIFIER = /(?:([*?])|(\+)|\{(\d+)(,\d*)?\})\??/y;

export interface ClassRun {
  /** Each character, as the string of all its ASCII alternatives. */
  readonly run: readonly string[];
  /** Whether a line with such a run certainly matches. */
  readonly exact: boolean;
}

/**
 * Finds a run of characters that every match contains. `[A-Z]{4,}_\d+` has `[A-Z]` four times, `_`, and a digit.
 * Examines only the top level of the source as written by `parseRegex`. Returns `undefined` if no run is rare enough to
 * search for.
 */
export function rareClassRun(source: string): ClassRun | undefined {
  let best: readonly string[] = [];
  let run: string[] = [];
  // The length of the expression if it is only one run, in which only the first and last items may repeat without a
  // limit.
  let whole = 0;
  let tokens = 0;
  let lastIsOpen = false;
  const end = (): void => {
    const closed = run.slice(-MAX_RUN);
    if (frequencyOf(closed) < frequencyOf(best)) best = closed;
    run = [];
  };
  let depth = 0;
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(source)?.[0] ?? "";
    if (token === "|" && depth === 0) return undefined;
    if (token === "(") depth++;
    if (token === ")") depth--;
    at += token.length;
    QUANTIFIER.lastIndex = at;
    const [quantifier = "", optional, plus, least, more] = QUANTIFIER.exec(source) ?? [];
    at += quantifier.length;
    const count = optional ? 0 : plus ? 1 : Math.min(Number(least ?? 1), MAX_RUN);
    if (depth > 0 || count === 0 || !isOneOfAscii(token)) {
      end();
      whole = Number.NaN;
      continue;
    }
    const copies = Array.from({ length: count }, () => membersOf(token));
    if ((lastIsOpen && tokens > 1) || Number(least) > MAX_RUN) whole = Number.NaN;
    lastIsOpen = Boolean(plus || more);
    tokens++;
    whole += count;
    run.push(...copies);
    if (plus || more || Number(least) > MAX_RUN) {
      // A repetition: the run before it ends here, and the next one begins with its last items.
      end();
      run = copies;
    }
  }
  end();
  // Lines contain no line ending, so a run with one in it is not a match.
  const exact = best.length > 0 && best.length === whole && !/[\n\r]/.test(best.join(""));
  // A single repeated class is found as quickly as a line ending, and then nothing is left to verify.
  const isQuick = exact && best.every((members) => members === best[0]);
  return isQuick || frequencyOf(best) < RARE ? { run: best, exact } : undefined;
}

function membersOf(token: string): string {
  const { ascii } = characterSet(token, false);
  const codes = Array.from({ length: ASCII_SIZE }, (_, code) => code).filter((code) => ascii[code]);
  return String.fromCharCode(...codes);
}

/**
 * The estimated frequency of a run. Characters of one class come together, so after the first of a class the next is
 * likely.
 */
function frequencyOf(run: readonly string[]): number {
  const kinds = [...new Set(run)];
  const first = kinds.reduce((product, members) => product * frequencyOfAny(members), 1);
  return first * SAME_AGAIN ** (run.length - kinds.length);
}
