import { countOf } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import { binaryType } from "./fileType.js";
import type { FileWindow, WindowRequest } from "./fileWindow.js";
import { decode, decodesFully, type TextEncoding } from "./textEncoding.js";

// The encodings in which bytes can be invalid, and how invalid bytes are shown.
const LOSSY: Partial<Record<TextEncoding, readonly [name: string, instead: string]>> = {
  utf8: ["UTF-8", "shown as \ufffd"],
  ascii: ["ASCII", "shown without their highest bit"],
  utf16le: ["UTF-16", "shown as \ufffd or, at the end, not at all"],
  utf16be: ["UTF-16", "shown as \ufffd or, at the end, not at all"],
};

/** The arguments of a call that a notice repeats. */
interface Asked {
  readonly path: string;
  readonly given: BufferEncoding | undefined;
  readonly request: WindowRequest;
}

/** How much of the file is shown, and the arguments to continue reading. `size` and `total` are absent if unknown. */
export function cutNotice(
  asked: Asked,
  window: FileWindow,
  size: number | undefined,
  total: number | undefined,
): string {
  const { path, given, request } = asked;
  const end = window.start + window.bytes.length;
  const lines = total === undefined ? "an uncounted number of lines" : countOf(total, "line");
  const next: Record<string, unknown> = { path };
  if (given !== undefined) next.encoding = given;
  const byLine = window.cut === "caps" && request.byte === undefined;
  if (byLine) next.offset = request.line + window.lines;
  else next.byte_offset = end;
  if (request.limit !== Number.POSITIVE_INFINITY && window.cut === "caps") {
    next.limit = request.limit - window.lines;
  }
  const part = byLine
    ? `lines ${request.line}-${request.line + window.lines - 1}, bytes ${window.start}-${end - 1}`
    : `bytes ${window.start}-${end - 1}`;
  const whole = size === undefined ? lines : `${lines} and ${size} bytes`;
  return `Truncated: ${part} of ${whole} are shown. To read on, call read_file with ${JSON.stringify(next)}`;
}

/** The decoded text. A notice follows as the last line if some bytes are not valid in the encoding. */
export function shownText(bytes: Buffer, encoding: TextEncoding): string {
  const text = decode(bytes, encoding);
  if (decodesFully(bytes, text, encoding)) return text;
  const [name, instead] = LOSSY[encoding] ?? [encoding, "changed"];
  const notice = `Some bytes are not valid ${name} and are ${instead}. Pass "encoding": "latin1" to see them.`;
  return `${text.toWellFormed()}\n[${notice}]`;
}

/** The text returned in place of a binary file's content. */
export function binaryNotice(path: string, head: Buffer, size: number | undefined): string {
  const bytes = size === undefined ? "size unknown" : countOf(size, "byte");
  return `[${showPath(path)} is a binary file (${binaryType(head)}, ${bytes}) and is not shown. Pass "encoding": "hex" or "base64" to read its bytes.]`;
}

/** The text with a notice as its last line. */
export function withNotice(text: string, notice: string): string {
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${notice}]`;
}
