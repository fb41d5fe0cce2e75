import { isAscii, isUtf8 } from "node:buffer";
import { quote, utf8Boundary } from "@agent/core/toolkit";

/** The encoding of a text file. Node has no `utf16be`, but files in it exist. */
export type TextEncoding = BufferEncoding | "utf16be";

const NAMES = "utf-8, utf-16le, latin1, ascii, base64, base64url, hex";
const SAMPLE_BYTES = 8 * 1024;

/** Checks the argument `encoding`. Throws for an encoding that Node does not know. */
export function checkedEncoding(encoding: string): BufferEncoding {
  if (Buffer.isEncoding(encoding)) return normal(encoding);
  throw new Error(`"encoding" is ${quote(encoding)}, which is not known. Use one of: ${NAMES}.`);
}

/** The encoding that a byte order mark at the start declares, if there is one. */
export function markedEncoding(head: Uint8Array): TextEncoding | undefined {
  // FF FE 00 00 is the mark of UTF-32, which is not supported; UTF-16 text does not start with a NUL.
  if (head[0] === 0xff && head[1] === 0xfe) return head[2] === 0 && head[3] === 0 ? undefined : "utf16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf16be";
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf8";
  return undefined;
}

/** Whether a file without a byte order mark looks binary: its first bytes hold a NUL. */
export function looksBinary(head: Uint8Array): boolean {
  return head.subarray(0, SAMPLE_BYTES).includes(0);
}

/** Decodes bytes. Invalid ones are replaced or dropped; `decodesFully` tells whether that happened. */
export function decode(bytes: Buffer, encoding: TextEncoding): string {
  if (encoding !== "utf16be") return bytes.toString(encoding);
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");
}

export function encode(text: string, encoding: TextEncoding): Buffer {
  return encoding === "utf16be" ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, encoding);
}

/** Whether decoding `bytes` to `text` lost nothing. */
export function decodesFully(bytes: Uint8Array, text: string, encoding: TextEncoding): boolean {
  if (encoding === "utf8") return isUtf8(bytes);
  if (encoding === "ascii") return isAscii(bytes);
  if (encoding === "utf16le" || encoding === "utf16be") return bytes.length % 2 === 0 && text.isWellFormed();
  return true;
}

/** Whether the encoding writes bytes as text (hex, base64), so that the result has no lines. */
export function isBinaryToText(encoding: TextEncoding): boolean {
  return encoding === "hex" || encoding === "base64" || encoding === "base64url";
}

/** The largest number of bytes up to `limit` that ends between two characters. */
export function cutBoundary(bytes: Uint8Array, limit: number, encoding: TextEncoding): number {
  if (limit >= bytes.length) return bytes.length;
  if (encoding === "utf8") return utf8Boundary(bytes, limit);
  if (encoding === "base64" || encoding === "base64url") return limit - (limit % 3);
  if (encoding !== "utf16le" && encoding !== "utf16be") return limit;
  const even = limit & ~1;
  const high = bytes[encoding === "utf16le" ? even - 1 : even - 2] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? even - 2 : even;
}

function normal(encoding: BufferEncoding): BufferEncoding {
  const name = encoding.toLowerCase();
  if (name === "utf-8" || name === "utf8") return "utf8";
  if (name === "utf-16le" || name === "utf16le" || name === "ucs2" || name === "ucs-2") return "utf16le";
  return name === "binary" ? "latin1" : (name as BufferEncoding);
}
