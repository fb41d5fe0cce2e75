import { isUtf8 } from "node:buffer";

const CARRIAGE_RETURN = 0x0d;
const BINARY_PROBE_BYTES = 8192;

/** The length of a UTF-8 byte-order mark at the start, which is no part of the text. */
export function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The byte order of UTF-16 text, told by its byte-order mark. */
export function utf16Order(bytes: Buffer): "little" | "big" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "little";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "big" : undefined;
}

/** UTF-16 with a byte-order mark, as UTF-8. */
export function utf16ToUtf8(bytes: Buffer, order: "little" | "big"): Buffer {
  const even = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)));
  const text = (order === "big" ? even.swap16() : even).toString("utf16le");
  return Buffer.from(text, "utf8");
}

/** Whether the start of a file looks like anything but text. */
export function looksBinary(bytes: Buffer, length: number): boolean {
  const probe = Math.min(length, BINARY_PROBE_BYTES);
  return probe > 0 && bytes.subarray(0, probe).includes(0);
}

/** Text as UTF-8; bytes that are not UTF-8 are taken as Latin-1, where every byte is a character. */
export function decode(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString("utf8", from, to);
  if (!text.includes("\ufffd") || isUtf8(bytes.subarray(from, to))) return text;
  return bytes.toString("latin1", from, to);
}

/** Where a line ends for the reader: before the carriage return of a CRLF. */
export function withoutReturn(bytes: Buffer, from: number, to: number): number {
  return to > from && bytes[to - 1] === CARRIAGE_RETURN ? to - 1 : to;
}
