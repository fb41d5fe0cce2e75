import { isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;
const LAST_CODE_POINT = 0x10ffff;
const BINARY_PROBE_BYTES = 8192;

/** The length of a UTF-8 byte order mark at the start, which is not part of the text. */
export function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The byte order of UTF-16 text, from its byte order mark; also for UTF-32. */
export function utf16Order(bytes: Buffer): "little" | "big" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "little";
  return (bytes[0] === 0xfe && bytes[1] === 0xff) || isUtf32(bytes, "big") ? "big" : undefined;
}

/**
 * Converts UTF-16 with a byte order mark to UTF-8. Two zero bytes next to the mark make it UTF-32: no text starts with
 * a NUL.
 */
export function utf16ToUtf8(bytes: Buffer, order: "little" | "big"): Buffer {
  if (isUtf32(bytes, order)) return utf32ToUtf8(bytes, order);
  const even = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)));
  const text = (order === "big" ? even.swap16() : even).toString("utf16le");
  return Buffer.from(text, "utf8");
}

function isUtf32(bytes: Buffer, order: "little" | "big"): boolean {
  return bytes.length >= 4 && codePointAt(bytes, 0, order) === BYTE_ORDER_MARK;
}

function utf32ToUtf8(bytes: Buffer, order: "little" | "big"): Buffer {
  const parts: string[] = [];
  for (let at = 4; at + 4 <= bytes.length; at += 4) {
    const point = codePointAt(bytes, at, order);
    parts.push(point <= LAST_CODE_POINT ? String.fromCodePoint(point) : "\ufffd");
  }
  return Buffer.from(parts.join(""), "utf8");
}

function codePointAt(bytes: Buffer, at: number, order: "little" | "big"): number {
  return order === "little" ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

/** Whether the start of a file looks binary. */
export function looksBinary(bytes: Buffer, length: number): boolean {
  const probe = Math.min(length, BINARY_PROBE_BYTES);
  return probe > 0 && bytes.subarray(0, probe).includes(0);
}

/** Decodes text as UTF-8; lines that are not UTF-8 are decoded as Latin-1, in which every byte is a character. */
export function decode(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString("utf8", from, to);
  if (!text.includes("\ufffd") || isUtf8(bytes.subarray(from, to))) return text;
  const middle = lineBreakNear(bytes, from, to);
  if (middle === undefined) return bytes.toString("latin1", from, to);
  return decode(bytes, from, middle) + decode(bytes, middle, to);
}

/** The start of a line near the middle, if there are two lines. */
function lineBreakNear(bytes: Buffer, from: number, to: number): number | undefined {
  const before = bytes.lastIndexOf(LINE_FEED, (from + to) >> 1);
  const at = before >= from ? before : bytes.indexOf(LINE_FEED, (from + to) >> 1);
  return at >= from && at + 1 < to ? at + 1 : undefined;
}

/** The end of a line's content: before the carriage return of a CRLF. */
export function withoutReturn(bytes: Buffer, from: number, to: number): number {
  return to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
}
