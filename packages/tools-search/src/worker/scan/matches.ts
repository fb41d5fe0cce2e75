import { isAscii } from "node:buffer";
import type { CompiledQuery } from "../../match/query.js";
import type { ByteWindow } from "../../match/window/byteWindow.js";
import { decode } from "./encoding.js";
import type { RowCollector } from "./rows.js";
import { ByteView, StringView } from "./view.js";
import { withDfa } from "./withDfa.js";
import { withExpression } from "./withExpression.js";
import { withNeedles } from "./withNeedles.js";

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
