import { isAscii } from "node:buffer";
import { decode } from "../encoding.js";
import type { ByteWindow } from "../match/bytes.js";
import type { Needle } from "../match/needle.js";
import type { CompiledQuery } from "../match/query.js";
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
  const view: TextView = query.needles.length > 0 ? byteView(piece) : stringView(piece);
  collector.begin(view);
  if (view instanceof ByteView) withNeedles(view, query, collector, firstOnly);
  else if (view instanceof StringView) withExpression(view, query, collector, firstOnly);
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

/** Candidates by the strings a match must contain; only the lines around them are looked at. */
function withNeedles(
  view: ByteView,
  query: CompiledQuery,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { window, end } = view;
  const { keepReturn } = query;
  // In text of plain ASCII there is no use in looking for anything else.
  const ascii =
    query.asciiNeedles.length < query.needles.length && isAscii(window.buffer.subarray(view.start, end));
  const needles = ascii ? query.asciiNeedles : query.needles;
  const test = ascii && query.asciiIsExact ? undefined : query.test;
  const [only] = needles;
  if (only === undefined) return;
  const next =
    needles.length === 1 ? (from: number) => window.find(only, from, end) : firstOfMany(view, needles);
  for (let at = next(view.start); at !== -1; ) {
    const lineEnd = view.lineEnd(at);
    if (test === undefined && collector.onlyCounts) collector.matches++;
    else {
      const lineStart = view.lineStart(at);
      if (test === undefined || test(view.line(lineStart, lineEnd, keepReturn))) {
        collector.match(view, lineStart, lineEnd, at);
      }
    }
    if (firstOnly && collector.matches > 0) return;
    at = lineEnd >= end ? -1 : next(lineEnd + 1);
  }
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
