import { isAscii } from "node:buffer";
import { decode } from "../encoding.js";
import type { ByteWindow } from "../match/bytes.js";
import type { Needle } from "../match/needle.js";
import type { CompiledQuery, LineDecider } from "../match/query.js";
import type { RowCollector } from "./rows.js";
import { ByteView, StringView, type TextView } from "./view.js";

/**
 * How much text an expression is given at once. An engine that counts how often it steps back, and changes to a
 * slow way of matching at some number, counts anew for each.
 */
const STEP_CHARACTERS = 2048;

/** The lines of a window to search, and what to do with them. */
export interface Piece {
  readonly window: ByteWindow;
  readonly from: number;
  readonly to: number;
  /** Whether the file ends here. */
  readonly isLast: boolean;
}

/** Reports every matching line of the piece to the collector. `firstOnly` stops at the first. */
export function collectMatches(
  piece: Piece,
  query: CompiledQuery,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const hasNeedles = query.needles.length > 0;
  const decider = hasNeedles && query.test === undefined ? undefined : query.decider();
  const view: TextView = hasNeedles || decider ? byteView(piece) : stringView(piece);
  collector.begin(view);
  if (view instanceof StringView) withExpression(view, query, collector, firstOnly);
  else if (view instanceof ByteView) {
    if (hasNeedles) withNeedles(view, query, decider, collector, firstOnly);
    else if (decider) withAutomaton(view, query, decider, collector, firstOnly);
  }
  collector.finish(view, piece.isLast);
}

function byteView({ window, from, to }: Piece): ByteView {
  return new ByteView(window, from, to);
}

function stringView({ window, from, to }: Piece): StringView {
  const ascii = isAscii(window.buffer.subarray(from, to));
  return new StringView(
    ascii ? window.buffer.toString("latin1", from, to) : decode(window.buffer, from, to),
    ascii,
  );
}

/** One pass over all bytes. Only lines that the automaton is not sure about are decoded for a look at them. */
function withAutomaton(
  view: ByteView,
  { keepReturn }: CompiledQuery,
  { automaton, search }: LineDecider,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { window, end } = view;
  for (let from = view.start; from < end; ) {
    const found = window.decide(automaton, from, end);
    if (found === -1) return;
    let at = found >> 1;
    const isSure = (found & 1) === 0;
    const lineEnd = view.lineEnd(at);
    from = lineEnd + 1;
    if (isSure && collector.onlyCounts) collector.matches++;
    else {
      const lineStart = view.lineStart(at);
      if (!isSure) {
        const line = view.line(lineStart, lineEnd, keepReturn);
        const index = search(line);
        if (index === -1) continue;
        at = view.placeIn(line, index, lineStart, lineEnd);
      }
      collector.match(view, lineStart, lineEnd, at);
    }
    if (firstOnly) return;
  }
}

/** Candidates by the strings a match must contain; only the lines around them are looked at. */
function withNeedles(
  view: ByteView,
  query: CompiledQuery,
  decider: LineDecider | undefined,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { window, end } = view;
  // In text of plain ASCII there is no use in looking for anything else.
  const ascii =
    query.asciiNeedles.length < query.needles.length && isAscii(window.buffer.subarray(view.start, end));
  const needles = ascii ? query.asciiNeedles : query.needles;
  const test = ascii && query.asciiIsExact ? undefined : lineTest(view, query, decider);
  const [only] = needles;
  if (only === undefined) return;
  const next =
    needles.length === 1 ? (from: number) => window.find(only, from, end) : firstOfMany(view, needles);
  for (let at = next(view.start); at !== -1; ) {
    const lineEnd = view.lineEnd(at);
    if (test === undefined && collector.onlyCounts) collector.matches++;
    else {
      const lineStart = view.lineStart(at);
      if (test === undefined || test(lineStart, lineEnd)) {
        collector.match(view, lineStart, lineEnd, at);
      }
    }
    if (firstOnly && collector.matches > 0) return;
    at = lineEnd >= end ? -1 : next(lineEnd + 1);
  }
}

/** Decides about a line that holds a needle. `undefined`: all of them match. */
function lineTest(
  view: ByteView,
  { test, keepReturn }: CompiledQuery,
  decider: LineDecider | undefined,
): ((from: number, to: number) => boolean) | undefined {
  if (test === undefined) return undefined;
  const byText = (from: number, to: number): boolean => test(view.line(from, to, keepReturn));
  if (decider === undefined) return byText;
  return (from, to) => {
    const found = view.window.decide(decider.automaton, from, to);
    return found !== -1 && ((found & 1) === 0 || byText(from, to));
  };
}

/** The next place where any of the needles is. What was found for one is kept until it is passed. */
function firstOfMany({ window, end }: ByteView, needles: readonly Needle[]): (from: number) => number {
  const places = needles.map(() => -2);
  return (from) => {
    let first = -1;
    for (const [index, needle] of needles.entries()) {
      let place = places[index] ?? -1;
      if (place !== -1 && place < from) {
        place = window.find(needle, from, end);
        places[index] = place;
      }
      if (place !== -1 && (first === -1 || place < first)) first = place;
    }
    return first;
  };
}

/** Many lines at once where the expression allows it, which is several times faster than line by line. */
function withExpression(
  view: StringView,
  query: CompiledQuery,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { text } = view;
  const { test, keepReturn } = query;
  const expression = query.scan?.(view.ascii);
  const isExact = query.scanIsExact && !text.includes("\r");
  for (let from = 0; from < view.end; ) {
    let at = from;
    if (expression) {
      const to = view.lineEnd(Math.min(from + STEP_CHARACTERS, view.end - 1));
      const found = expression.exec(text.slice(from, to));
      if (found === null) {
        from = to + 1;
        continue;
      }
      at += found.index;
    }
    const lineStart = view.lineStart(at);
    const lineEnd = view.lineEnd(at);
    if ((expression && isExact) || test === undefined || test(view.line(lineStart, lineEnd, keepReturn))) {
      collector.match(view, lineStart, lineEnd, at);
      if (firstOnly) return;
    }
    from = lineEnd + 1;
  }
}
