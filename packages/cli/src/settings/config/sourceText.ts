/** A part of a text, without surrounding blanks. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}", "(": ")" };
// A string or a comment, whose content is not code. An unclosed one extends to the end of its line, or of the text. If
// it did not match, each quote in it would be tried as another start, and a long text of them would take hours.
const LITERAL =
  /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/**
 * A program's text with the same length and brackets, in which comments are blanks and strings contain nothing that
 * looks like code.
 */
export function maskLiterals(text: string): string {
  return text.replace(LITERAL, (literal) =>
    literal.startsWith("/") ? literal.replace(/[^\n]/g, " ") : '"'.repeat(literal.length),
  );
}

/** The position of the bracket that closes the one at `open`, in a masked text. */
export function closingBracket(mask: string, open: number): number | undefined {
  const expected: string[] = [];
  for (let at = open; at < mask.length; at++) {
    const character = mask.charAt(at);
    const closing = CLOSING[character];
    if (closing !== undefined) expected.push(closing);
    else if (character === expected.at(-1)) {
      expected.pop();
      if (expected.length === 0) return at;
    }
  }
  return undefined;
}

/** The parts between commas inside the brackets that open at `open`, in a masked text. */
export function bracketParts(mask: string, open: number): Range[] | undefined {
  const close = closingBracket(mask, open);
  if (close === undefined) return undefined;
  const parts: Range[] = [];
  let start = open + 1;
  for (let at = start; at <= close; at++) {
    if (CLOSING[mask.charAt(at)] !== undefined) at = closingBracket(mask, at) ?? close;
    else if (mask.charAt(at) === "," || at === close) {
      const part = trimmed(mask, start, at);
      if (part.end > part.start) parts.push(part);
      start = at + 1;
    }
  }
  return parts;
}

function trimmed(mask: string, from: number, to: number): Range {
  const inner = mask.slice(from, to);
  const start = from + inner.length - inner.trimStart().length;
  return { start, end: Math.max(start, from + inner.trimEnd().length) };
}

/** Adds a part at the end of the brackets that open at `open`; on its own line if the other parts are. */
export function insertPart(text: string, open: number, part: string): string {
  const mask = maskLiterals(text);
  const close = closingBracket(mask, open) ?? open;
  const last = bracketParts(mask, open)?.at(-1);
  const isList = text.charAt(open) === "[";
  if (last === undefined) {
    const inner = isList ? part : ` ${part} `;
    return `${text.slice(0, open + 1)}${inner}${text.slice(close)}`;
  }
  const hasComma = mask.slice(last.end, close).includes(",");
  const end = hasComma ? mask.indexOf(",", last.end) + 1 : last.end;
  const isOnLines = mask.slice(open, last.start).includes("\n");
  const indent = text.slice(text.slice(0, last.start).trimEnd().length, last.start).replace(/^.*\n/s, "");
  const before = `${text.slice(0, end)}${hasComma ? "" : ","}`;
  return isOnLines
    ? `${before}\n${indent}${part},${text.slice(end)}`
    : `${before} ${part}${hasComma ? "," : ""}${text.slice(end)}`;
}

/** The text without one of its parts, its comma, and the line it leaves empty. */
export function removePart(text: string, open: number, part: Range): string {
  const mask = maskLiterals(text);
  const parts = bracketParts(mask, open) ?? [];
  const at = parts.findIndex(({ start }) => start === part.start);
  const [before, after] = [parts[at - 1], parts[at + 1]];
  if (after !== undefined) return text.slice(0, part.start) + text.slice(after.start);
  const close = closingBracket(mask, open) ?? part.end;
  const comma = mask.slice(part.end, close).indexOf(",");
  const end = comma === -1 ? part.end : part.end + comma + 1;
  const hadComma = comma !== -1 && before !== undefined;
  const start = before?.end ?? open + 1;
  const rest = before === undefined ? text.slice(end).trimStart() : text.slice(end);
  return `${text.slice(0, start)}${hadComma ? "," : ""}${rest}`;
}

/** The indentation of one level of a JSON text; "" if the text is on one line. */
export function indentOf(text: string): string {
  return /^\ufeff?\s*[[{][^\S\n]*\n([^\S\n]+)/.exec(text)?.[1] ?? "";
}
