import { isAscii, isUtf8 } from "node:buffer";
import type { CompiledQuery, LineDecider } from "../../match/query.js";
import type { ByteWindow } from "../../match/window/byteWindow.js";
import { decode } from "./encoding.js";
import type { RowCollector } from "./rows.js";
import { ByteView, StringView } from "./view.js";

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
  const hasNeedles = query.needles.size > 0;
  const decider = hasNeedles && query.test === undefined ? undefined : query.decider();
  const view = hasNeedles || decider ? new ByteView(piece.window, piece.from, piece.to) : stringView(piece);
  collector.begin(view);
  if (view instanceof StringView) withExpression(view, query, collector, firstOnly);
  else if (hasNeedles) withNeedles(view, query, decider, collector, firstOnly);
  else if (decider) withDfa(view, query, decider, collector, firstOnly);
  collector.finish(view, piece.isLast);
}

function stringView({ window, from, to }: Piece): StringView {
  const ascii = isAscii(window.buffer.subarray(from, to));
  return new StringView(
    ascii ? window.buffer.toString("latin1", from, to) : decode(window.buffer, from, to),
    ascii,
  );
}

/**
 * The length of text that an expression gets in one call. An engine that counts its backtracking steps, and switches to
 * a slower algorithm at a limit, starts counting again for each call.
 */
const STEP_CHARACTERS = 2048;

/** Matches many lines at the same time if the expression allows it, which is several times faster than line by line. */
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

/** Needles that are closer together than this, on average, do not help: reading line by line is faster. */
const CLOSE_BYTES = 80;

const TRIED_AT_ONCE = 16;

/** Finds candidates by the strings a match must contain; only their lines are examined. */
function withNeedles(
  view: ByteView,
  query: CompiledQuery,
  decider: LineDecider | undefined,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { window, end } = view;
  // Plain ASCII text needs only the ASCII needles.
  const ascii =
    query.asciiNeedles.size < query.needles.size && isAscii(window.buffer.subarray(view.start, end));
  const test = ascii && query.asciiIsExact ? undefined : lineTest(view, query, decider);
  const next = window.finder(ascii ? query.asciiNeedles : query.needles, end);
  let tried = 0;
  for (let at = next(view.start); at !== -1; ) {
    if (decider && test && ++tried % TRIED_AT_ONCE === 0 && at - view.start < tried * CLOSE_BYTES) {
      withDfa(view, query, decider, collector, firstOnly, view.lineStart(at));
      return;
    }
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

/** Decides about a line that contains a needle. `undefined`: all of them match. */
function lineTest(
  view: ByteView,
  { test, keepReturn }: CompiledQuery,
  decider: LineDecider | undefined,
): ((from: number, to: number) => boolean) | undefined {
  if (test === undefined) return undefined;
  const byText = (from: number, to: number): boolean => test(view.line(from, to, keepReturn));
  if (decider === undefined) return byText;
  return (from, to) => {
    const found = view.window.decide(decider.dfa, from, to);
    return found !== -1 && ((found & 1) === 0 || byText(from, to));
  };
}

/** Matches in one pass over all bytes. Only lines that the DFA cannot decide are decoded. */
function withDfa(
  view: ByteView,
  { keepReturn }: CompiledQuery,
  decider: LineDecider,
  collector: RowCollector,
  firstOnly: boolean,
  start = view.start,
): void {
  const { window, end } = view;
  let { dfa } = decider;
  let triedUtf8 = false;
  for (let from = start; from < end; ) {
    const found = window.decide(dfa, from, end);
    if (found === -1) return;
    let at = found >> 1;
    const isSure = (found & 1) === 0;
    const lineEnd = view.lineEnd(at);
    from = lineEnd + 1;
    if (isSure && collector.onlyCounts) collector.matches++;
    else {
      const lineStart = view.lineStart(at);
      if (!isSure && !triedUtf8) {
        triedUtf8 = true;
        const better = isUtf8(window.buffer.subarray(lineStart, end)) && decider.utf8Dfa();
        if (better) {
          dfa = better;
          from = lineStart;
          continue;
        }
      }
      if (!isSure) {
        const line = view.line(lineStart, lineEnd, keepReturn);
        const index = decider.search(line);
        if (index === -1) continue;
        at = view.placeIn(line, index, lineStart, lineEnd);
      }
      collector.match(view, lineStart, lineEnd, at);
    }
    if (firstOnly) return;
  }
}
