import { countOf, optionalInteger, optionalString, requireString } from "@agent/core/toolkit";
import type { Action } from "../action.js";
import { binaryType } from "../fileType.js";
import { type FileWindow, readWindow, type WindowRequest } from "../fileWindow.js";
import { LineIndex } from "../lineIndex.js";
import { missingError } from "../missing.js";
import {
  afterNewline,
  BYTE_NEWLINE,
  type NewlineForm,
  UTF16BE_NEWLINE,
  UTF16LE_NEWLINE,
} from "../newlines.js";
import { showPath } from "../pathText.js";
import { readFully, readWithPatience } from "../readBytes.js";
import { type OpenFile, openRegularFile } from "../regularFile.js";
import { digestOf, stampOf } from "../seenFiles.js";
import {
  checkedEncoding,
  decode,
  decodesFully,
  looksBinary,
  markedEncoding,
  spellsBytes,
  type TextEncoding,
} from "../textEncoding.js";
import type { Workspace } from "../workspace.js";

const HEAD_BYTES = 8 * 1024;
// To give the number of lines the rest of the file must be read; beyond this the size has to do.
const MAX_COUNTED_BYTES = 1024 * 1024 * 1024;

// In which encodings bytes can be invalid, and what becomes of those.
const LOSSY: Partial<Record<TextEncoding, readonly [name: string, instead: string]>> = {
  utf8: ["UTF-8", "shown as \ufffd"],
  ascii: ["ASCII", "shown without their highest bit"],
  utf16le: ["UTF-16", "shown as \ufffd or, at the end, not at all"],
  utf16be: ["UTF-16", "shown as \ufffd or, at the end, not at all"],
};

/** What one call asks for, with the file it found. */
interface Reading {
  readonly path: string;
  readonly target: string;
  readonly given: BufferEncoding | undefined;
  readonly request: WindowRequest;
  readonly signal: AbortSignal | undefined;
}

/** Reads a text file, whole or some of its lines. Never changes what it shows; a cut is announced. */
export const readFile: Action = async (workspace, args, call) => {
  const path = requireString(args, "path");
  const encoding = optionalString(args, "encoding", undefined);
  const given = encoding === undefined ? undefined : checkedEncoding(encoding);
  const request = readRequest(workspace, args, given);
  let target = path;
  try {
    target = workspace.locate(path);
    const file = openRegularFile(target, path, workspace.guard);
    try {
      return await read(workspace, file, { path, target, given, request, signal: call?.signal });
    } finally {
      file.close();
    }
  } catch (error) {
    throw await missingError(error, "read", path, target);
  }
};

function readRequest(
  workspace: Workspace,
  args: Record<string, unknown>,
  given: BufferEncoding | undefined,
): WindowRequest {
  const byte = optionalInteger(args, "byte_offset", undefined);
  const line = optionalInteger(args, "offset", undefined, { min: 1 });
  if (byte !== undefined && line !== undefined) {
    throw new Error('Pass either "offset" or "byte_offset", not both.');
  }
  const { maxReadBytes, maxReadLines } = workspace.limits;
  return {
    line: line ?? 1,
    byte,
    limit: optionalInteger(args, "limit", undefined, { min: 1 }) ?? Number.POSITIVE_INFINITY,
    maxBytes: given !== undefined && spellsBytes(given) ? Math.floor(maxReadBytes / 2) : maxReadBytes,
    maxLines: maxReadLines,
  };
}

async function read(workspace: Workspace, file: OpenFile, reading: Reading): Promise<string> {
  const size = Number(file.info.size);
  const { request } = reading;
  const whole =
    request.line === 1 && request.byte === undefined && request.limit === Number.POSITIVE_INFINITY;
  if (size === 0) return await readUnsized(workspace, file, reading);
  if (whole && size <= request.maxBytes) {
    const buffer = Buffer.allocUnsafe(size + 1);
    const length = readFully(file.fd, buffer, 0);
    const bytes = buffer.subarray(0, length);
    // Longer than it said: it is being written. Then it is read like any file past the cap.
    if (length <= size && !hasMoreLines(bytes, reading)) return present(workspace, file, reading, bytes);
  }
  return await readPart(workspace, file, reading, size);
}

/** A whole file in one piece, or `part` of it. */
function present(
  workspace: Workspace,
  file: OpenFile,
  { path, target, given }: Reading,
  bytes: Buffer,
  part = bytes,
): string {
  workspace.seen.remember(target, file.info, digestOf(bytes));
  const encoding = given ?? markedEncoding(bytes) ?? "utf8";
  if (given === undefined && encoding === "utf8" && looksBinary(bytes)) {
    return binaryNotice(path, bytes, bytes.length);
  }
  return shown(part, encoding);
}

/** Empty, or a file of the kernel that has content but no size. */
async function readUnsized(workspace: Workspace, file: OpenFile, reading: Reading): Promise<string> {
  const { maxBytes } = reading.request;
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  const length = await readWithPatience(file.fd, buffer);
  const bytes = buffer.subarray(0, length);
  if (length > maxBytes || hasMoreLines(bytes, reading)) {
    return await readPart(workspace, file, reading, undefined);
  }
  const isText = reading.given !== undefined || !looksBinary(bytes);
  return present(workspace, file, reading, bytes, isText ? linesOf(bytes, reading) : bytes);
}

/** `size` is absent for a file of the kernel, which tells none. */
async function readPart(
  workspace: Workspace,
  file: OpenFile,
  reading: Reading,
  size: number | undefined,
): Promise<string> {
  const { path, target, given, request, signal } = reading;
  if (size !== undefined) refusePastEnd(reading, size);
  workspace.seen.remember(target, file.info, undefined);
  const head = Buffer.allocUnsafe(Math.min(HEAD_BYTES, size ?? HEAD_BYTES));
  const start = head.subarray(0, readFully(file.fd, head, 0));
  const encoding = given ?? markedEncoding(start) ?? "utf8";
  if (given === undefined && encoding === "utf8" && looksBinary(start))
    return binaryNotice(path, start, size);
  const form = newlineForm(encoding);
  const startIndex = (): LineIndex => new LineIndex(form);
  // What the kernel makes up may change without any sign.
  const index =
    size === undefined
      ? startIndex()
      : workspace.lineIndexes.get(`${form.unit}:${form.wide}:${target}`, stampOf(file.info), startIndex);
  const window = await readWindow(file.fd, request, index, form, encoding, signal);
  const total = (): Promise<number | undefined> => index.total(file.fd, size ?? 0, MAX_COUNTED_BYTES, signal);
  if (window === undefined) {
    throw new Error(
      `"offset" is ${request.line}, but ${showPath(path)} has ${countOf((await total()) ?? 0, "line")}.`,
    );
  }
  const text = shown(window.bytes, encoding);
  if (window.cut === "no") return text;
  return withNotice(text, cutNotice(reading, window, size, await total()));
}

/** Whether a file that is in memory whole has more lines than one call shows. */
function hasMoreLines(bytes: Buffer, { given, request: { maxLines, line, limit } }: Reading): boolean {
  const encoding = given ?? markedEncoding(bytes) ?? "utf8";
  // No more lines than bytes: that is most files.
  if (spellsBytes(encoding) || Math.min(bytes.length, line + limit - 1) <= maxLines) return false;
  const end = afterNewline(bytes, maxLines, newlineForm(encoding));
  return end !== -1 && end < bytes.length;
}

/** The lines that were asked for, of a file that is in memory whole. */
function linesOf(bytes: Buffer, reading: Reading): Buffer {
  const { line, limit, byte = 0 } = reading.request;
  refusePastEnd(reading, bytes.length);
  const start = afterNewline(bytes, line - 1, BYTE_NEWLINE);
  if (start === -1 || (line > 1 && start === bytes.length)) {
    throw new Error(`"offset" is ${line}, but ${showPath(reading.path)} has fewer lines.`);
  }
  const rest = bytes.subarray(Math.max(start, byte));
  const end = Number.isFinite(limit) ? afterNewline(rest, limit, BYTE_NEWLINE) : -1;
  return end === -1 ? rest : rest.subarray(0, end);
}

function refusePastEnd({ path, request: { byte } }: Reading, size: number): void {
  if (byte === undefined || byte <= size) return;
  throw new Error(`"byte_offset" is ${byte}, but ${showPath(path)} has ${countOf(size, "byte")}.`);
}

function newlineForm(encoding: TextEncoding): NewlineForm {
  if (encoding === "utf16le") return UTF16LE_NEWLINE;
  return encoding === "utf16be" ? UTF16BE_NEWLINE : BYTE_NEWLINE;
}

function cutNotice(
  reading: Reading,
  window: FileWindow,
  size: number | undefined,
  total: number | undefined,
): string {
  const { path, given, request } = reading;
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

/** The text, with a last line if not every byte could be shown as it is. */
function shown(bytes: Buffer, encoding: TextEncoding): string {
  const text = decode(bytes, encoding);
  if (decodesFully(bytes, text, encoding)) return text;
  const [name, instead] = LOSSY[encoding] ?? [encoding, "changed"];
  const notice = `Some bytes are not valid ${name} and are ${instead}. Pass "encoding": "latin1" to see them.`;
  return `${text.toWellFormed()}\n[${notice}]`;
}

function binaryNotice(path: string, head: Buffer, size: number | undefined): string {
  const bytes = size === undefined ? "size unknown" : countOf(size, "byte");
  return `[${showPath(path)} is a binary file (${binaryType(head)}, ${bytes}) and is not shown. Pass "encoding": "hex" or "base64" to read its bytes.]`;
}

function withNotice(text: string, notice: string): string {
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${notice}]`;
}
