import { isAscii } from "node:buffer";
import type { CompiledQuery, LineDecider } from "../../match/query.js";
import type { RowCollector } from "./rows.js";
import type { ByteView } from "./view.js";
import { withDfa } from "./withDfa.js";

/** Needles that are closer together than this, on average, are no help: it takes less time to read on line by line. */
const CLOSE_BYTES = 80;
const TRIED_AT_ONCE = 16;

/** Candidates by the strings a match must contain; only the lines around them are looked at. */
export function withNeedles(
  view: ByteView,
  query: CompiledQuery,
  decider: LineDecider | undefined,
  collector: RowCollector,
  firstOnly: boolean,
): void {
  const { window, end } = view;
  // In text of plain ASCII there is no use in looking for anything else.
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
    const found = view.window.decide(decider.dfa, from, to);
    return found !== -1 && ((found & 1) === 0 || byText(from, to));
  };
}
