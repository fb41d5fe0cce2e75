import type { ByteWindow } from "../../match/window/byteWindow.js";
import { decode, withoutReturn } from "./encoding.js";

/** Whole lines of a text, as bytes or decoded. Positions are specific to the view. */
export interface TextView {
  readonly start: number;
  readonly end: number;
  /** The start of the line that contains `at`. */
  lineStart(at: number): number;
  /** The line ending of the line that contains `at`, or the end of the view. */
  lineEnd(at: number): number;
  countLines(from: number, to: number): number;
  /** The text of a line, without the carriage return of a CRLF unless it must be kept. */
  line(from: number, to: number, keepReturn: boolean): string;
  /** The same for display: at most about `length` characters, around the position `at`. */
  shown(from: number, to: number, at: number, length: number): string;
}

export class ByteView implements TextView {
  constructor(
    readonly window: ByteWindow,
    readonly start: number,
    readonly end: number,
  ) {}

  lineStart(at: number): number {
    const before = this.window.lastNewline(this.start, at);
    return before === -1 ? this.start : before + 1;
  }

  lineEnd(at: number): number {
    return this.window.nextNewline(at, this.end);
  }

  countLines(from: number, to: number): number {
    return this.window.countNewlines(from, to);
  }

  line(from: number, to: number, keepReturn: boolean): string {
    const { buffer } = this.window;
    return decode(buffer, from, keepReturn ? to : withoutReturn(buffer, from, to));
  }

  /** The position of the character `index` of the line [from, to). */
  placeIn(line: string, index: number, from: number, to: number): number {
    // As many characters as bytes: all of it is ASCII, or Latin-1.
    const bytes = line.length === to - from ? index : Buffer.byteLength(line.slice(0, index));
    return Math.min(from + bytes, to);
  }

  shown(from: number, to: number, at: number, length: number): string {
    const { buffer } = this.window;
    const end = withoutReturn(buffer, from, to);
    if (end - from <= length) return decode(buffer, from, end);
    // A line may be as long as a file: only the text around the match is decoded.
    const reach = length * 4;
    const near = characterStart(buffer, from, Math.max(from, at - reach));
    const far = characterStart(buffer, from, Math.min(end, at + reach));
    const before = decode(buffer, near, Math.max(near, Math.min(at, far))).length;
    return excerpt(decode(buffer, near, far), before, length, {
      cutBefore: near > from,
      cutAfter: far < end,
      bytes: end - from,
    });
  }
}

/** The position at or before `at` where a UTF-8 character begins. */
function characterStart(bytes: Buffer, from: number, at: number): number {
  let start = at;
  while (start > from && start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

export class StringView implements TextView {
  readonly start = 0;
  readonly end: number;

  constructor(
    readonly text: string,
    readonly ascii: boolean,
  ) {
    this.end = text.length;
  }

  lineStart(at: number): number {
    return at === 0 ? 0 : this.text.lastIndexOf("\n", at - 1) + 1;
  }

  lineEnd(at: number): number {
    const end = this.text.indexOf("\n", at);
    return end === -1 ? this.end : end;
  }

  countLines(from: number, to: number): number {
    let total = 0;
    for (let at = this.lineEnd(from); at < to; at = this.lineEnd(at + 1)) total++;
    return total;
  }

  line(from: number, to: number, keepReturn: boolean): string {
    const returns = !keepReturn && to > from && this.text[to - 1] === "\r";
    return this.text.slice(from, returns ? to - 1 : to);
  }

  shown(from: number, to: number, at: number, length: number): string {
    const line = this.line(from, to, false);
    if (line.length <= length) return line;
    return excerpt(line, at - from, length, {
      cutBefore: false,
      cutAfter: false,
      bytes: Buffer.byteLength(line),
    });
  }
}

/** The part of a long line around the position `at`, marked where it was cut, with the full size. */
function excerpt(
  text: string,
  at: number,
  length: number,
  line: { readonly cutBefore: boolean; readonly cutAfter: boolean; readonly bytes: number },
): string {
  if (text.length <= length && !line.cutBefore && !line.cutAfter) return text;
  // Show less text before a match than after it: the text after it is more useful.
  const from =
    at < length * 0.75 ? 0 : Math.min(at - Math.floor(length / 4), Math.max(0, text.length - length));
  const start = from > 0 && isTrailSurrogate(text, from) ? from + 1 : from;
  const to = Math.min(text.length, start + length);
  const end = to < text.length && isTrailSurrogate(text, to) ? to - 1 : to;
  const before = start > 0 || line.cutBefore ? "…" : "";
  return `${before}${text.slice(start, end)}… [line of ${line.bytes} bytes cut]`;
}

function isTrailSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
