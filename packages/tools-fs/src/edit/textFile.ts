import { decode, decodesFully, encode, looksBinary, markedEncoding } from "../read/textEncoding.js";

const BYTE_ORDER_MARK = "\ufeff";
const UTF16_BYTES = 2;

/** A file's bytes as text that can be edited and encoded again; bytes outside the edit stay the same. */
export interface TextFile {
  readonly text: string;
  /**
   * Whether `text` holds characters. If not, each code unit is one byte, and part of a character may look like a quote.
   */
  readonly isDecoded: boolean;
  /** Converts an argument of the call to the form of `text`. */
  fromArgument(argument: string): string;
  /** Converts a piece of `text` to readable characters. */
  toShown(piece: string): string;
  toBytes(text: string): Buffer;
  /** The number of bytes of a piece of `text` in the file. */
  sizeOf(piece: string): number;
}

/** Decodes bytes, or returns `undefined` if they are not text. A byte order mark at the start is not part of `text`. */
export function asTextFile(bytes: Buffer): TextFile | undefined {
  const encoding = markedEncoding(bytes) ?? "utf8";
  if (encoding === "utf8" && looksBinary(bytes)) return undefined;
  const decoded = decode(bytes, encoding);
  if (encoding === "utf8" && !decodesFully(bytes, decoded, encoding)) return byteText(bytes);
  const mark = decoded.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const toBytes = (text: string): Buffer => encode(mark + text, encoding);
  const text = decoded.slice(mark.length);
  if (!toBytes(text).equals(bytes)) return undefined;
  const sizeOf = (piece: string): number =>
    encoding === "utf8" ? Buffer.byteLength(piece) : piece.length * UTF16_BYTES;
  return { text, isDecoded: true, toBytes, sizeOf, fromArgument: withoutMark, toShown: (piece) => piece };
}

/** Text in an unknown encoding: every byte becomes one character, so that bytes that are not UTF-8 are kept. */
function byteText(bytes: Buffer): TextFile {
  return {
    text: bytes.toString("latin1"),
    isDecoded: false,
    fromArgument: (argument) => Buffer.from(withoutMark(argument), "utf8").toString("latin1"),
    toShown: (piece) => Buffer.from(piece, "latin1").toString("utf8"),
    toBytes: (text) => Buffer.from(text, "latin1"),
    sizeOf: (piece) => piece.length,
  };
}

/** Drops a leading byte order mark. If the argument is only a mark, it is kept: the caller means one inside the text. */
function withoutMark(argument: string): string {
  return argument.length > 1 && argument.startsWith(BYTE_ORDER_MARK) ? argument.slice(1) : argument;
}
