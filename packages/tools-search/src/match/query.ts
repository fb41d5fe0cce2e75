import { quote } from "@agent/core/toolkit";
import type { TextQuery } from "../protocol.js";
import { type Automaton, buildAutomaton } from "./automaton.js";
import { rareClassRun } from "./classRun.js";
import {
  createClassNeedle,
  createNeedle,
  MAX_NEEDLE_BYTES,
  type Needle,
  otherCaseNeedles,
} from "./needle.js";
import { NeedleSet } from "./needleSet.js";
import { type ParsedRegex, parseRegex } from "./regexParse.js";
import { RegexSyntaxError } from "./regexSyntax.js";
import { sufficientStrings, usefulStrings } from "./required.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range is meant
const ASCII = /^[\x00-\x7f]*$/;

/** How to find the matching lines of a text. */
export interface CompiledQuery {
  /** A matching line contains one of these. Empty: no such strings are known, and `scan` looks at all text. */
  readonly needles: NeedleSet;
  /** Those of them that text of plain ASCII can hold. */
  readonly asciiNeedles: NeedleSet;
  /** Decides about one line, without its line break. `undefined`: a line with a needle matches. */
  readonly test: ((line: string) => boolean) | undefined;
  /** Decides about lines in one pass over their bytes, if that is possible. Built when it is first asked for. */
  readonly decider: () => LineDecider | undefined;
  /** Whether a needle decides by itself in text that is all ASCII. */
  readonly asciiIsExact: boolean;
  /** Finds the next place from which a line may match, over many lines at once. */
  readonly scan: ((ascii: boolean) => RegExp) | undefined;
  /** Whether a find of `scan` is a match for sure as long as the text has no carriage return. */
  readonly scanIsExact: boolean;
  /** Whether `test` sees the carriage return at the end of a line, because it is asked for. */
  readonly keepReturn: boolean;
}

export interface LineDecider {
  readonly automaton: Automaton;
  /** One for text of UTF-8 only, which is sure about more lines. Built when it is first asked for. */
  readonly utf8Automaton: () => Automaton | undefined;
  /** For a line about which the automaton is not sure: where in it the match begins, or -1. */
  readonly search: (line: string) => number;
}

/** Compiles a query, or throws an error that names the place of the mistake. */
export function compileQuery(query: TextQuery): CompiledQuery {
  return query.regex ? compileRegex(query) : compileLiteral(query);
}

function compileLiteral({ text, ignoreCase }: TextQuery): CompiledQuery {
  const ascii = ASCII.test(text);
  if (ignoreCase && !ascii) return fromRegex(parseRegex(escapeRegex(text)), true);
  const utf8 = Buffer.from(text, "utf8");
  const needles = [createNeedle(utf8, ignoreCase)];
  // In a file that is not UTF-8 the same characters are other bytes; `test` decides by the decoded line.
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

function compileRegex(query: TextQuery): CompiledQuery {
  try {
    const parsed = parseRegex(query.text);
    const [text, ...others] = sufficientStrings(parsed.required) ?? [];
    if (text !== undefined && others.length === 0) return compileLiteral({ ...query, text, regex: false });
    return fromRegex(parsed, query.ignoreCase);
  } catch (error) {
    const reason = error instanceof RegexSyntaxError ? error.message : (error as Error).message;
    throw new Error(
      `"query" ${quote(query.text)} is not a valid regular expression: ${reason}. The syntax is JavaScript's; set regex to false to search for the text as it is.`,
    );
  }
}

function fromRegex(parsed: ParsedRegex, ignoreCase: boolean): CompiledQuery {
  const caseFlag = ignoreCase ? "i" : "";
  const unicode = new RegExp(parsed.source, `u${caseFlag}`);
  // Without "u" V8 can fall back to its linear engine; on ASCII text the two mean the same.
  const plain = parsed.needsUnicode ? unicode : new RegExp(parsed.source, caseFlag);
  const choose = (line: string): RegExp => (plain === unicode || ASCII.test(line) ? plain : unicode);
  const { lineSource } = parsed;
  const decider = onDemand(() => {
    const { tree } = parsed;
    if (tree === undefined) return undefined;
    const options = { ignoreCase, keepReturn: parsed.asksForReturn };
    const automaton = buildAutomaton(tree, { ...options, isUtf8: false });
    return (
      automaton && {
        automaton,
        utf8Automaton: onDemand(() => buildAutomaton(tree, { ...options, isUtf8: true })),
        search: (line: string) => line.search(choose(line)),
      }
    );
  });
  const { needles, exact } = needlesOf(parsed, ignoreCase, decider);
  return {
    ...setsOf(needles),
    asciiIsExact: exact,
    test: exact && needles.every((needle) => needle.ascii) ? undefined : (line) => choose(line).test(line),
    decider,
    scan: lineSource === undefined ? undefined : scanner(lineSource, caseFlag, parsed.needsUnicode),
    scanIsExact: !parsed.anchored,
    keepReturn: parsed.asksForReturn,
  };
}

function setsOf(needles: readonly Needle[]): Pick<CompiledQuery, "needles" | "asciiNeedles"> {
  return {
    needles: new NeedleSet(needles),
    asciiNeedles: new NeedleSet(needles.filter((needle) => needle.ascii)),
  };
}

/** Needles, and whether a line with one of those that are ASCII matches for sure. */
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
