import type { LineIndex } from "./lineIndex.js";
import { afterNewline, countNewlines, lastLineEnd, type NewlineForm } from "./newlines.js";
import { readFullyAsync } from "./readBytes.js";
import { cutBoundary, isBinaryToText, type TextEncoding } from "./textEncoding.js";

/** The requested part of a file. `line` counts from 1, `byte` from 0; only one of them is given. */
export interface WindowRequest {
  readonly line: number;
  readonly byte: number | undefined;
  /** The number of lines requested. */
  readonly limit: number;
  readonly maxBytes: number;
  readonly maxLines: number;
}

/** A part of a file, and the reason why it ends where it does. */
export interface FileWindow {
  readonly bytes: Buffer;
  /** The byte of the file at which it starts. */
  readonly start: number;
  readonly lines: number;
  /** `caps`: a limit was reached after a whole line. `inLine`: one line alone exceeds the limit. */
  readonly cut: "no" | "caps" | "inLine";
}

/** Reads the window, or returns `undefined` if the file has fewer lines. Memory: about `maxBytes`. */
export async function readWindow(
  fd: number,
  request: WindowRequest,
  index: LineIndex,
  form: NewlineForm,
  encoding: TextEncoding,
  signal: AbortSignal | undefined,
): Promise<FileWindow | undefined> {
  const start = request.byte ?? (await index.find(fd, request.line, signal));
  if (start === undefined) return undefined;
  const buffer = Buffer.allocUnsafe(request.maxBytes + 1);
  const length = await readFullyAsync(fd, buffer, start);
  // No line starts after the last newline.
  if (length === 0 && request.byte === undefined && request.line > 1) return undefined;
  return { start, ...cutWindow(buffer.subarray(0, length), request, form, encoding) };
}

/** Like `readWindow`, for a text that is already in memory. */
export function windowOf(bytes: Buffer, request: WindowRequest, form: NewlineForm): FileWindow | undefined {
  const start = request.byte ?? afterNewline(bytes, request.line - 1, form);
  if (start === -1 || (request.byte === undefined && request.line > 1 && start === bytes.length)) {
    return undefined;
  }
  return { start, ...cutWindow(bytes.subarray(start), request, form, "utf8") };
}

/** `bytes` holds the rest of the file, or one byte more than the cap. */
function cutWindow(
  bytes: Buffer,
  { limit, maxBytes, maxLines }: Omit<WindowRequest, "line" | "byte">,
  form: NewlineForm,
  encoding: TextEncoding,
): Omit<FileWindow, "start"> {
  const within = bytes.subarray(0, maxBytes);
  const wanted = Math.min(limit, maxLines);
  const end = Number.isFinite(wanted) ? afterNewline(within, wanted, form) : -1;
  if (end !== -1) {
    const cut = limit > maxLines && end < bytes.length ? "caps" : "no";
    return { bytes: within.subarray(0, end), lines: wanted, cut };
  }
  if (bytes.length <= maxBytes) return { bytes, lines: linesIn(bytes, form), cut: "no" };
  const lineEnd = isBinaryToText(encoding) ? 0 : lastLineEnd(within, maxBytes, form);
  if (lineEnd === 0) {
    const whole = within.subarray(0, cutBoundary(bytes, maxBytes, encoding));
    return { bytes: whole, lines: 1, cut: "inLine" };
  }
  return {
    bytes: within.subarray(0, lineEnd),
    lines: linesIn(within.subarray(0, lineEnd), form),
    cut: "caps",
  };
}

function linesIn(bytes: Buffer, form: NewlineForm): number {
  if (bytes.length === 0) return 0;
  const closed = countNewlines(bytes.subarray(bytes.length - form.unit), form) === 1;
  return countNewlines(bytes, form) + (closed ? 0 : 1);
}
