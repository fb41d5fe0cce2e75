import { errorMessage, quote } from "@agent/core/toolkit";
import type { TextQuery } from "../protocol.js";
import {
  createClassNeedle,
  createNeedle,
  MAX_NEEDLE_BYTES,
  type Needle,
  otherCaseNeedles,
} from "./needles/needle.js";
import { NeedleSet } from "./needles/needleSet.js";
import { rareClassRun } from "./regex/classRun.js";
import { buildDfa, type Dfa } from "./regex/dfa.js";
import { LinearMatcher } from "./regex/linearMatcher.js";
import { buildNfa } from "./regex/nfa.js";
import { type ParsedRegex, parseRegex } from "./regex/parse.js";
import { sufficientStrings, usefulStrings } from "./regex/required.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/** How to find the matching lines of a text. */
export interface CompiledQuery {
  /** A matching line contains one of these. Empty: no such strings are known, and `scan` examines all text. */
  readonly needles: NeedleSet;
  /** The needles that can occur in plain ASCII text. */
  readonly asciiNeedles: NeedleSet;
  /** Decides about one line, without its line ending. `undefined`: a line with a needle matches. */
  readonly test: ((line: string) => boolean) | undefined;
  /** Decides about lines in one pass over their bytes, if possible. Built on first use. */
  readonly decider: () => LineDecider | undefined;
  /** Whether a needle alone is a match in ASCII text. */
  readonly asciiIsExact: boolean;
  /** Finds the next position from which a line may match, over many lines at the same time. */
  readonly scan: ((ascii: boolean) => RegExp) | undefined;
  /** Whether a result of `scan` is certainly a match if the text has no carriage return. */
  readonly scanIsExact: boolean;
  /** Whether `test` gets the carriage return at the end of a line, because the expression contains one. */
  readonly keepReturn: boolean;
}

export interface LineDecider {
  readonly dfa: Dfa;
  /** A DFA for valid UTF-8 only, which can decide more lines. Built on first use. */
  readonly utf8Dfa: () => Dfa | undefined;
  /** For a line that the DFA cannot decide: the position of the match in it, or -1. */
  readonly search: (line: string) => number;
}

/** The maximum number of states of an expression that must be matched without backtracking. */
const MAX_NFA_STATES = 20_000;

/**
 * Compiles a query, or throws an error that names the position of the mistake. `backtracking` allows V8's own engine,
 * which can take forever for a single line: only a thread that can be terminated may use it. Without it, an expression
 * that no other engine can match is refused.
 */
export function compileQuery(query: TextQuery, { backtracking }: EngineOptions): CompiledQuery {
  return query.regex ? compileRegex(query, backtracking) : compileLiteral(query, backtracking);
}

export interface EngineOptions {
  readonly backtracking: boolean;
}

/** Thrown for an expression that is valid but must not be matched here. */
class NeedsThreadError extends Error {}

function compileLiteral({ text, ignoreCase }: TextQuery, backtracking: boolean): CompiledQuery {
  const ascii = ASCII.test(text);
  if (ignoreCase && !ascii) return fromRegex(parseRegex(escapeRegex(text)), true, backtracking);
  const utf8 = Buffer.from(text, "utf8");
  const needles = [createNeedle(utf8, ignoreCase)];
  // In a file that is not UTF-8 the same characters have other bytes; `test` decides by the decoded line.
  const latin1 = Buffer.from(text, "latin1");
  if (!ascii && latin1.toString("latin1") === text) needles.push(createNeedle(latin1, false));
  if (ignoreCase) needles.push(...otherCaseNeedles([text]));
  const asciiIsExact = ascii && utf8.length <= MAX_NEEDLE_BYTES;
  return {
    ...setsOf(needles),
    test: asciiIsExact && needles.length === 1 ? undefined : lineTest(text, ignoreCase),
    decider: () => undefined,
    asciiIsExact,
    scan: undefined,
    scanIsExact: false,
    keepReturn: text.includes("\r"),
  };
}

function lineTest(text: string, ignoreCase: boolean): (line: string) => boolean {
  if (!ignoreCase) return (line) => line.includes(text);
  const expression = new RegExp(escapeRegex(text), "iu");
  return (line) => expression.test(line);
}

function compileRegex(query: TextQuery, backtracking: boolean): CompiledQuery {
  try {
    const parsed = parseRegex(query.text);
    const [text, ...others] = sufficientStrings(parsed.required) ?? [];
    if (text !== undefined && others.length === 0) {
      return compileLiteral({ ...query, text, regex: false }, backtracking);
    }
    return fromRegex(parsed, query.ignoreCase, backtracking);
  } catch (error) {
    if (error instanceof NeedsThreadError) throw new Error(`"query" ${quote(query.text)} ${error.message}`);
    throw new Error(
      `"query" ${quote(query.text)} is not a valid regular expression: ${errorMessage(error)}. The syntax is JavaScript's; set regex to false to search for the text as it is.`,
    );
  }
}

function fromRegex(parsed: ParsedRegex, ignoreCase: boolean, backtracking: boolean): CompiledQuery {
  const engine = backtracking ? backtrackingEngine(parsed, ignoreCase) : linearEngine(parsed, ignoreCase);
  const decider = onDemand(() => {
    const { tree } = parsed;
    if (tree === undefined) return undefined;
    const options = { ignoreCase, keepReturn: parsed.asksForReturn };
    const dfa = buildDfa(tree, { ...options, isUtf8: false });
    return (
      dfa && {
        dfa,
        utf8Dfa: onDemand(() => buildDfa(tree, { ...options, isUtf8: true })),
        search: engine.search,
      }
    );
  });
  const { needles, exact } = needlesOf(parsed, ignoreCase, decider);
  return {
    ...setsOf(needles),
    asciiIsExact: exact,
    test: exact && needles.every((needle) => needle.ascii) ? undefined : (line) => engine.search(line) !== -1,
    decider,
    scan: engine.scan,
    scanIsExact: !parsed.anchored,
    keepReturn: parsed.asksForReturn,
  };
}

/** Matches lines that cannot be decided by their bytes. */
interface LineEngine {
  /** The position in the line where a match begins or is detected, or -1. */
  readonly search: (line: string) => number;
  readonly scan: CompiledQuery["scan"];
}

/** V8's own engine. */
function backtrackingEngine(
  { source, lineSource, needsUnicode }: ParsedRegex,
  ignoreCase: boolean,
): LineEngine {
  const caseFlag = ignoreCase ? "i" : "";
  const unicode = new RegExp(source, `u${caseFlag}`);
  // Without "u" V8 can fall back to its linear engine; on ASCII text the two are equivalent.
  const plain = needsUnicode ? unicode : new RegExp(source, caseFlag);
  return {
    search: (line) => line.search(plain === unicode || ASCII.test(line) ? plain : unicode),
    scan: lineSource === undefined ? undefined : scanner(lineSource, caseFlag, needsUnicode),
  };
}

function linearEngine({ tree }: ParsedRegex, ignoreCase: boolean): LineEngine {
  if (tree === undefined) {
    throw new NeedsThreadError(
      "has a look-around or a back-reference. Such an expression can take forever, so it is matched only in a worker thread, and none runs here (this runtime has no worker threads, or workers is 0). Search for the text around it without the look-around, and read the lines found.",
    );
  }
  const nfa = buildNfa(tree, ignoreCase, MAX_NFA_STATES);
  if (nfa === undefined) {
    throw new NeedsThreadError(
      "repeats too much to be matched without a worker thread, and none runs here (this runtime has no worker threads, or workers is 0). Use smaller numbers in its quantifiers.",
    );
  }
  const matcher = new LinearMatcher(nfa, ignoreCase);
  return { search: (line) => matcher.find(line), scan: undefined };
}

function setsOf(needles: readonly Needle[]): Pick<CompiledQuery, "needles" | "asciiNeedles"> {
  return {
    needles: new NeedleSet(needles),
    asciiNeedles: new NeedleSet(needles.filter((needle) => needle.ascii)),
  };
}

/** Needles, and whether a line with one of the ASCII ones certainly matches. */
function needlesOf(
  { required, source }: ParsedRegex,
  ignoreCase: boolean,
  decider: CompiledQuery["decider"],
): { readonly needles: readonly Needle[]; readonly exact: boolean } {
  const run = ignoreCase || usefulStrings(required) ? undefined : rareClassRun(source);
  if (run) return { needles: [createClassNeedle(run.run)], exact: run.exact };
  const strings = usefulStrings(required) ?? usefulStrings(required, decider() !== undefined) ?? [];
  // The same word in another case is the same needle.
  const texts = ignoreCase ? [...new Set(strings.map((text) => text.toLowerCase()))] : strings;
  const needles = texts.map((text) => createNeedle(text, ignoreCase));
  const isWhole = strings.every((text) => text.length <= MAX_NEEDLE_BYTES);
  return {
    needles: ignoreCase ? [...needles, ...otherCaseNeedles(strings)] : needles,
    exact: strings.length > 0 && isWhole && sufficientStrings(required) !== undefined,
  };
}

function onDemand<Value>(create: () => Value): () => Value {
  let created: { readonly value: Value } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

function scanner(source: string, caseFlag: string, needsUnicode: boolean): (ascii: boolean) => RegExp {
  const unicode = new RegExp(source, `mu${caseFlag}`);
  const plain = needsUnicode ? unicode : new RegExp(source, `m${caseFlag}`);
  return (ascii) => (ascii ? plain : unicode);
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
