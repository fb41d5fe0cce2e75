import { isAscii } from "node:buffer";
import type { Needle } from "../match/needle.js";
import type { CompiledQuery, LineDecider } from "../match/query.js";
import type { RowCollector } from "./rows.js";
import type { ByteView } from "./view.js";
import { withAutomaton } from "./withAutomaton.js";

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
    query.asciiNeedles.length < query.needles.length && isAscii(window.buffer.subarray(view.start, end));
  const needles = ascii ? query.asciiNeedles : query.needles;
  const test = ascii && query.asciiIsExact ? undefined : lineTest(view, query, decider);
  const [only] = needles;
  if (only === undefined) return;
  const next =
    needles.length === 1 ? (from: number) => window.find(only, from, end) : firstOfMany(view, needles);
  let tried = 0;
  for (let at = next(view.start); at !== -1; ) {
    if (decider && test && ++tried % TRIED_AT_ONCE === 0 && at - view.start < tried * CLOSE_BYTES) {
      withAutomaton(view, query, decider, collector, firstOnly, view.lineStart(at));
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
