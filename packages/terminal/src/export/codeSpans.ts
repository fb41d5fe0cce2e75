/** A piece of a line: code between two runs of backticks of the same length, or text. An unmatched run is text. */
export interface Span {
  readonly isCode: boolean;
  /** Without the backticks around code. */
  readonly text: string;
  /** The source text in the line. */
  readonly source: string;
}

/** The pieces of a line, found in one pass. `split` makes every second piece a run of backticks. */
export function readSpans(line: string): Span[] {
  const pieces = line.split(/(`+)/);
  const closing = closingRuns(pieces);
  const spans: Span[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const end = closing.get(at);
    const source = end === undefined ? (pieces[at] ?? "") : pieces.slice(at, end + 1).join("");
    const text = end === undefined ? source : pieces.slice(at + 1, end).join("");
    spans.push({ isCode: end !== undefined, text, source });
    at = end ?? at;
  }
  return spans;
}

/** For each run of backticks, by index, the next one of the same length, found in one pass from the end. */
function closingRuns(pieces: readonly string[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const next = new Map<number, number>();
  for (let at = pieces.length - 2; at > 0; at -= 2) {
    const length = pieces[at]?.length ?? 0;
    const end = next.get(length);
    if (end !== undefined) closing.set(at, end);
    next.set(length, at);
  }
  return closing;
}
