import type { CompiledQuery } from "../../match/query.js";
import type { RowCollector } from "./rows.js";
import type { StringView } from "./view.js";

/**
 * How much text an expression is given at the same time. An engine that counts how often it steps back, and changes to a
 * slow way of matching at some number, counts anew for each.
 */
const STEP_CHARACTERS = 2048;

/** Many lines at the same time where the expression allows it, which is several times faster than line by line. */
export function withExpression(
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
