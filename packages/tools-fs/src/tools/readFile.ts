import { type DefinedToolCall, defineTool, type ToolInput } from "@agent/core";
import { countOf, requireString } from "@agent/core/toolkit";
import { readUnsaved } from "../editor/unsavedText.js";
import { missingError } from "../errors/missing.js";
import { showPath } from "../paths/pathText.js";
import { readWindow, type WindowRequest, windowOf } from "../read/fileWindow.js";
import { LineIndex } from "../read/lineIndex.js";
import { type MediaType, maxMediaBytes, mediaTypeOf, toMedia, tooLargeNotice } from "../read/media.js";
import {
  afterNewline,
  BYTE_NEWLINE,
  countNewlines,
  type NewlineForm,
  UTF16BE_NEWLINE,
  UTF16LE_NEWLINE,
} from "../read/newlines.js";
import { binaryNotice, cutNotice, shownText, withNotice } from "../read/notices.js";
import { readFully, readFullyAsync, readWithPatience } from "../read/readBytes.js";
import { type OpenFile, openRegularFile } from "../read/regularFile.js";
import { digestOf, stampOf } from "../read/seenFiles.js";
import {
  checkedEncoding,
  isBinaryToText,
  looksBinary,
  markedEncoding,
  type TextEncoding,
} from "../read/textEncoding.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import { READS } from "./capabilities.js";
import { describeSteps } from "./describeSteps.js";

const HEAD_BYTES = 8 * 1024;
// Counting lines means reading the rest of the file; for a larger file the notice gives only the size.
const MAX_COUNTED_BYTES = 1024 * 1024 * 1024;
// A larger file is read from the disk without asking the editor.
const MAX_EDITOR_BYTES = 8 * 1024 * 1024;
const UNSAVED_NOTICE =
  "This is the text in the user's editor. It has changes that are not saved on disk yet.";

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: {
    path: { type: "string", description: "File to read" },
    encoding: {
      type: "string",
      description:
        "utf-8 (default; UTF-16 with a byte order mark is recognised), utf-16le, latin1, ascii, base64, base64url or hex",
    },
    offset: { type: "integer", minimum: 1, description: "First line to read, counted from 1" },
    limit: { type: "integer", minimum: 1, description: "Number of lines to read" },
    byte_offset: {
      type: "integer",
      minimum: 0,
      description: "Byte to start at instead of a line, for reading on inside a very long line",
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

/** The checked arguments of a call, with the resolved file. */
interface Reading {
  readonly path: string;
  readonly target: string;
  readonly given: BufferEncoding | undefined;
  readonly request: WindowRequest;
  readonly signal: AbortSignal | undefined;
  /** Adds an image or a document to the result, if the caller accepts one. */
  readonly attach: DefinedToolCall["attach"] | undefined;
  /** Receives the text that is shown, if the caller displays it. */
  readonly onText: ((text: string) => void) | undefined;
}

/**
 * Reads a text file, whole or some of its lines, or attaches an image or a PDF for a model that can see it. Returns the
 * text unchanged; a notice tells where it was cut off.
 */
export function readFileTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  const { maxReadBytes, maxReadLines } = workspace.limits;
  return defineTool({
    name: "read_file",
    description: `Read a file. Returns its content as it is; past ${maxReadBytes} bytes or ${maxReadLines} lines the first part and a last line that says how to read on. Images (PNG, JPEG, GIF, WebP) and PDF documents are attached to be looked at.`,
    input: INPUT,
    capabilities: READS,
    titleFrom: "path",
    pathArguments: PATHS,
    describe: (input) =>
      describeSteps(workspace, () => [
        {
          action: "read",
          ...workspace.locateBoth(requireString(input, "path")),
          ...(input.offset !== undefined && { line: input.offset }),
        },
      ]),
    async execute(input, call) {
      const path = requireString(input, "path");
      const given = input.encoding === undefined ? undefined : checkedEncoding(input.encoding);
      const request = readRequest(workspace, input, given);
      let target = path;
      try {
        target = workspace.locate(path);
        const file = openRegularFile(workspace, target, path, call);
        try {
          const { signal } = call;
          const attach = call.canAttach ? call.attach : undefined;
          const onText = call.wantsView
            ? (text: string) => report(workspace, path, text, request, call)
            : undefined;
          return await read(workspace, file, { path, target, given, request, signal, attach, onText });
        } finally {
          file.close();
        }
      } catch (error) {
        throw await missingError(error, "read", path, target);
      }
    },
  });
}

function report(
  workspace: Workspace,
  path: string,
  text: string,
  { line, byte }: WindowRequest,
  call: DefinedToolCall,
): void {
  const lines = text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0);
  call.report({
    ok: true,
    summary: countOf(lines, "line"),
    view: {
      type: "code",
      text,
      path: workspace.locateEntry(path),
      ...(byte === undefined && { startLine: line }),
    },
  });
}

function readRequest(
  workspace: Workspace,
  input: ToolInput<typeof INPUT>,
  given: BufferEncoding | undefined,
): WindowRequest {
  const { byte_offset: byte, offset: line, limit = Number.POSITIVE_INFINITY } = input;
  if (byte !== undefined && line !== undefined) {
    throw new Error('Pass either "offset" or "byte_offset", not both.');
  }
  const { maxReadBytes, maxReadLines } = workspace.limits;
  return {
    line: line ?? 1,
    byte,
    limit,
    maxBytes: given !== undefined && isBinaryToText(given) ? Math.floor(maxReadBytes / 2) : maxReadBytes,
    maxLines: maxReadLines,
  };
}

async function read(workspace: Workspace, file: OpenFile, reading: Reading): Promise<string> {
  const size = Number(file.info.size);
  const { request } = reading;
  const whole =
    request.line === 1 && request.byte === undefined && request.limit === Number.POSITIVE_INFINITY;
  const unsaved = await findUnsaved(workspace, file, reading, size);
  if (unsaved !== undefined) return showUnsaved(workspace, file, reading, unsaved);
  if (size === 0) return await readUnsized(workspace, file, reading);
  if (whole && size <= request.maxBytes) {
    const buffer = Buffer.allocUnsafe(size + 1);
    const length = readFully(file.fd, buffer, 0);
    const bytes = buffer.subarray(0, length);
    // The file is longer than `fstat` reported: another program appends to it. Read it like a file above the limit.
    if (length <= size && !hasMoreLines(bytes, reading)) return present(workspace, file, reading, bytes);
  }
  return await readPart(workspace, file, reading, size);
}

/** The unsaved text in the user's editor, if any. A call with another encoding gets the bytes on the disk. */
async function findUnsaved(
  workspace: Workspace,
  { fd }: OpenFile,
  { target, given, signal }: Reading,
  size: number,
): Promise<Buffer | undefined> {
  const isAsked = workspace.editorFiles?.readText !== undefined && (given ?? "utf8") === "utf8";
  if (!isAsked || size > MAX_EDITOR_BYTES) return undefined;
  const buffer = Buffer.allocUnsafe(size);
  const length = await readFullyAsync(fd, buffer, 0);
  return await readUnsaved(workspace, target, buffer.subarray(0, length), signal);
}

function showUnsaved(workspace: Workspace, file: OpenFile, reading: Reading, bytes: Buffer): string {
  const { path, target, request } = reading;
  workspace.seen.remember(target, file.info, digestOf(bytes));
  refusePastEnd(reading, bytes.length);
  const lines = countNewlines(bytes, BYTE_NEWLINE) + (bytes.length === 0 || bytes.at(-1) === 10 ? 0 : 1);
  const window = windowOf(bytes, request, BYTE_NEWLINE);
  if (window === undefined) {
    throw new Error(`"offset" is ${request.line}, but ${showPath(path)} has ${countOf(lines, "line")}.`);
  }
  const text = show(reading, window.bytes, "utf8");
  const shown =
    window.cut === "no" ? text : withNotice(text, cutNotice(reading, window, bytes.length, lines));
  return withNotice(shown, UNSAVED_NOTICE);
}

/** Shows a file that was read whole, or `part` of it. */
function present(
  workspace: Workspace,
  file: OpenFile,
  reading: Reading,
  bytes: Buffer,
  part = bytes,
): string {
  const { path, target, given } = reading;
  workspace.seen.remember(target, file.info, digestOf(bytes));
  const type = mediaToAttach(reading, bytes);
  if (type !== undefined) return attachMedia(reading, type, bytes);
  const encoding = given ?? markedEncoding(bytes) ?? "utf8";
  if (given === undefined && encoding === "utf8" && looksBinary(bytes)) {
    return binaryNotice(path, bytes, bytes.length);
  }
  return show(reading, part, encoding);
}

function show({ onText }: Reading, bytes: Buffer, encoding: TextEncoding): string {
  const text = shownText(bytes, encoding);
  onText?.(text);
  return text;
}

/** Reads a file of size 0: it is empty, or a kernel file, which has content but no size. */
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

/** Reads a window of a file. `size` is absent for a kernel file, which has none. */
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
  const type = mediaToAttach(reading, start);
  if (type !== undefined) return await readMedia(file, reading, type, size ?? 0);
  const encoding = given ?? markedEncoding(start) ?? "utf8";
  if (given === undefined && encoding === "utf8" && looksBinary(start))
    return binaryNotice(path, start, size);
  const form = newlineForm(encoding);
  const startIndex = (): LineIndex => new LineIndex(form);
  // A kernel file changes without a new stamp, so its index is not kept.
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
  const text = show(reading, window.bytes, encoding);
  if (window.cut === "no") return text;
  return withNotice(text, cutNotice(reading, window, size, await total()));
}

/** The type of the image or document to attach, if any: a call with `encoding` or `byte_offset` gets bytes instead. */
function mediaToAttach({ attach, given, request }: Reading, head: Buffer): MediaType | undefined {
  return attach && given === undefined && request.byte === undefined ? mediaTypeOf(head) : undefined;
}

async function readMedia(file: OpenFile, reading: Reading, type: MediaType, size: number): Promise<string> {
  if (size > maxMediaBytes(type)) return tooLargeNotice(reading.path, type, size);
  const buffer = Buffer.allocUnsafe(size);
  const length = await readFullyAsync(file.fd, buffer, 0);
  return attachMedia(reading, type, buffer.subarray(0, length));
}

function attachMedia({ path, attach }: Reading, type: MediaType, bytes: Buffer): string {
  const { part, text } = toMedia(path, type, bytes);
  if (part !== undefined) attach?.(part);
  return text;
}

/** Whether a file that is wholly in memory has more lines than one call shows. */
function hasMoreLines(bytes: Buffer, { given, request: { maxLines, line, limit } }: Reading): boolean {
  const encoding = given ?? markedEncoding(bytes) ?? "utf8";
  // A file has no more lines than bytes; this decides for most files.
  if (isBinaryToText(encoding) || Math.min(bytes.length, line + limit - 1) <= maxLines) return false;
  const end = afterNewline(bytes, maxLines, newlineForm(encoding));
  return end !== -1 && end < bytes.length;
}

/** The requested lines of a file that is wholly in memory. */
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
