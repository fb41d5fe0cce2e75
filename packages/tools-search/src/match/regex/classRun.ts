import { frequencyOfAny, MAX_RUN } from "../needles/needle.js";
import { ASCII_SIZE, characterSet, isOneOfAscii } from "./characterSet.js";

/** A run that is met more often than once in so many bytes sorts out too few lines. */
const RARE = 1 / 500;
/** How likely it is that a character is of the same kind as the one before it. */
const SAME_AGAIN = 0.6;

const TOKEN =
  /\\[pP]\{[^}]*\}|\\k<[^>]*>|\\u\{[^}]*\}|\\u.{4}|\\x..|\\c.|\\[1-9]\d*|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const QUANTIFIER = /(?:([*?])|(\+)|\{(\d+)(,\d*)?\})\??/y;

export interface ClassRun {
  /** Each character, given as the string of all ASCII characters it can be. */
  readonly run: readonly string[];
  /** Whether a line with such a run matches for sure. */
  readonly exact: boolean;
}

/**
 * A run of characters that every match contains. `[A-Z]{4,}_\d+` has `[A-Z]` four times, `_`, and a digit. Reads the
 * source as `parseRegex` writes it, at its top level only. Returns `undefined` if no run is worth looking for: it would
 * be met too often.
 */
export function rareClassRun(source: string): ClassRun | undefined {
  let best: readonly string[] = [];
  let run: string[] = [];
  // How long the expression is if it is nothing but one run, of which only the first and the last may be repeated at will.
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
      // More may follow: what comes before ends here, and what comes after begins with the last ones.
      end();
      run = copies;
    }
  }
  end();
  // A line break belongs to no line, so that a run with one in it would be no match.
  const exact = best.length > 0 && best.length === whole && !/[\n\r]/.test(best.join(""));
  // One class in a row is found as quickly as a line break, and then there is nothing left to verify.
  const isQuick = exact && best.every((members) => members === best[0]);
  return isQuick || frequencyOf(best) < RARE ? { run: best, exact } : undefined;
}

function membersOf(token: string): string {
  const { ascii } = characterSet(token, false);
  const codes = Array.from({ length: ASCII_SIZE }, (_, code) => code).filter((code) => ascii[code]);
  return String.fromCharCode(...codes);
}

/** How often a run is met, roughly. Characters of one kind come together, so after the first of a kind the next is likely. */
function frequencyOf(run: readonly string[]): number {
  const kinds = [...new Set(run)];
  const first = kinds.reduce((product, members) => product * frequencyOfAny(members), 1);
  return first * SAME_AGAIN ** (run.length - kinds.length);
}
