/** A here-document whose lines are still to come. */
export interface HereDocument {
  readonly delimiter: string;
  /** Whether the delimiter is quoted, so that nothing in the lines is expanded. */
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
  /** Where its "<<" stands. */
  readonly at: number;
}

const PLAIN_EXPANSION = /\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;

/**
 * Reads the lines of a here-document that begin at `start`. Returns where the next command begins, or what in a
 * line shells may read differently. `undefined` if the delimiter does not come.
 */
export function readBody(
  source: string,
  start: number,
  { delimiter, isQuoted, stripsTabs }: HereDocument,
): { readonly end: number } | { readonly odd: string; readonly at: number } | undefined {
  for (let at = start; at < source.length; ) {
    const newline = source.indexOf("\n", at);
    const line = source.slice(at, newline === -1 ? undefined : newline);
    const next = at + line.length + (newline === -1 ? 0 : 1);
    if ((stripsTabs ? line.replace(/^\t+/, "") : line) === delimiter) return { end: next };
    const odd = isQuoted ? null : /[\\`]|\$(?![ .,;]|$)/.exec(line.replace(PLAIN_EXPANSION, ""));
    if (odd) return { odd: odd[0], at };
    at = next;
  }
  return undefined;
}
