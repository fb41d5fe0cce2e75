import { decode, decodesFully, encode, looksBinary, markedEncoding } from "../read/textEncoding.js";

const BYTE_ORDER_MARK = "\ufeff";

/** A file's bytes as text that can be changed and turned back without touching any other byte. */
export interface TextFile {
  readonly text: string;
  /** Whether `text` holds characters. If not, each unit is a byte, which may only look like a quote or a space. */
  readonly isDecoded: boolean;
  /** An argument in the form in which it stands in `text`. */
  fromArgument(argument: string): string;
  /** A piece of `text` for reading. */
  toShown(piece: string): string;
  toBytes(text: string): Buffer;
}

/** Opens bytes as text, or returns `undefined` if they are not text. The byte order mark stays outside. */
export function asTextFile(bytes: Buffer): TextFile | undefined {
  const encoding = markedEncoding(bytes) ?? "utf8";
  if (encoding === "utf8" && looksBinary(bytes)) return undefined;
  const decoded = decode(bytes, encoding);
  if (encoding === "utf8" && !decodesFully(bytes, decoded, encoding)) return byteText(bytes);
  const mark = decoded.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const toBytes = (text: string): Buffer => encode(mark + text, encoding);
  const text = decoded.slice(mark.length);
  if (!toBytes(text).equals(bytes)) return undefined;
  return { text, isDecoded: true, toBytes, fromArgument: withoutMark, toShown: (piece) => piece };
}

/** Text in an unknown encoding: every byte is one character, so that what is not understood stays as it is. */
function byteText(bytes: Buffer): TextFile {
  return {
    text: bytes.toString("latin1"),
    isDecoded: false,
    fromArgument: (argument) => Buffer.from(withoutMark(argument), "utf8").toString("latin1"),
    toShown: (piece) => Buffer.from(piece, "latin1").toString("utf8"),
    toBytes: (text) => Buffer.from(text, "latin1"),
  };
}

/** Drops a leading byte order mark. A mark alone is kept: the caller means one inside the text. */
function withoutMark(argument: string): string {
  return argument.length > 1 && argument.startsWith(BYTE_ORDER_MARK) ? argument.slice(1) : argument;
}
