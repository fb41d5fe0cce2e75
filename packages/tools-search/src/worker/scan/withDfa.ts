import { isUtf8 } from "node:buffer";
import type { CompiledQuery, LineDecider } from "../../match/query.js";
import type { RowCollector } from "./rows.js";
import type { ByteView } from "./view.js";

/** Matches in one pass over all bytes. Only lines that the DFA cannot decide are decoded. */
export function withDfa(
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
