import { closeSync, fstatSync, readSync } from "node:fs";
import type { CompiledQuery } from "../../match/query.js";
import type { ByteWindow } from "../../match/window/byteWindow.js";
import { PlainWindow } from "../../match/window/plainWindow.js";
import { createWindow } from "../../match/window/window.js";
import type { TextQuery } from "../../protocol.js";
import type { Boundary } from "../boundary.js";
import { NotSearched } from "../notSearched.js";
import { bomLength, looksBinary, utf16Order, utf16ToUtf8 } from "./encoding.js";
import { collectMatches } from "./matches.js";
import { RowCollector } from "./rows.js";

const MB = 1024 * 1024;
/** Small enough for a CPU's L2 cache: data that was just read is searched while it is still there. */
const WINDOW_BYTES = 256 * 1024;
/** Up to this size a window stays in fast memory; one for a longer line is created for that file alone. */
const FAST_WINDOW_BYTES = 16 * MB;
/** A line longer than this is searched in pieces. */
const MAX_LINE_BYTES = 128 * MB;
/** UTF-16 is transcoded as a whole. */
const MAX_UTF16_BYTES = 64 * MB;
/** A file of at least this size is divided among the workers. */
const LARGE_FILE_BYTES = 16 * MB;

export interface FileScan {
  readonly matches: number;
  readonly collector: RowCollector;
  /** Set if the file was not searched because it is large enough to be divided. */
  readonly large?: { readonly size: number; readonly identity: string };
  /** Whether a line was too long to be searched as one. */
  readonly inPieces: boolean;
}

export interface ScanOptions {
  readonly budget: number;
  readonly splitLarge: boolean;
  /** The caller named the file: it is searched even if it looks binary. */
  readonly named: boolean;
  /** Whether a short read is not the end, as in files that the kernel generates while they are read. */
  readonly inPortions: boolean;
  /** Only the lines that begin in [from, to), of a file that was found to be large. */
  readonly range?: { readonly from: number; readonly to: number; readonly identity: string } | undefined;
  readonly boundary: Boundary;
  readonly heartbeat: () => void;
}

export function createScanWindow(simd: boolean): ByteWindow {
  return createWindow(WINDOW_BYTES, simd);
}

/** Searches files one after the other with one reused block of memory. */
export class FileScanner {
  #window: ByteWindow;

  readonly #query: TextQuery;
  readonly #compiled: CompiledQuery;
  readonly #simd: boolean;

  constructor(
    query: TextQuery,
    compiled: CompiledQuery,
    simd: boolean,
    /** The memory to read into; the memory of a finished scanner can be reused. */
    window: ByteWindow,
  ) {
    this.#query = query;
    this.#compiled = compiled;
    this.#simd = simd;
    this.#window = window;
  }

  /** Throws `NotSearched` for a file that cannot or should not be searched. */
  scan(path: string, options: ScanOptions): FileScan {
    const { boundary, inPortions, named } = options;
    const descriptor = open(path, boundary, named);
    try {
      if (inPortions) boundary.checkProcessSecret(descriptor, path);
      const scan = new Reading(this, descriptor, this.#query, this.#compiled, options).run();
      // Few files match, so this check of the opened file is done only for them.
      if (scan.matches > 0 && !inPortions) boundary.checkProcessSecret(descriptor, path);
      return scan;
    } catch (error) {
      throw notSearched(error);
    } finally {
      closeSync(descriptor);
    }
  }

  get window(): ByteWindow {
    return this.#window;
  }

  /** A window twice as large, with the content of the old one. */
  grow(window: ByteWindow, heartbeat: () => void): ByteWindow | undefined {
    const size = window.buffer.length * 2;
    if (size > MAX_LINE_BYTES) return undefined;
    const fast = size <= FAST_WINDOW_BYTES;
    const larger = fast
      ? createWindow(size, this.#simd)
      : new PlainWindow(Buffer.allocUnsafeSlow(size), heartbeat);
    window.buffer.copy(larger.buffer);
    if (fast) this.#window = larger;
    return larger;
  }
}

/** One file being read: windows of whole lines, cut at the last line ending that fits. */
class Reading {
  readonly #collector: RowCollector;
  readonly #firstOnly: boolean;
  #inPieces = false;

  readonly #scanner: FileScanner;
  readonly #descriptor: number;
  readonly #compiled: CompiledQuery;
  readonly #options: ScanOptions;

  constructor(
    scanner: FileScanner,
    descriptor: number,
    query: TextQuery,
    compiled: CompiledQuery,
    options: ScanOptions,
  ) {
    this.#scanner = scanner;
    this.#descriptor = descriptor;
    this.#compiled = compiled;
    this.#options = options;
    const { budget, range } = options;
    this.#collector = new RowCollector(budget, query, range !== undefined && budget > 0);
    this.#firstOnly = query.mode === "files" && range === undefined;
  }

  run(): FileScan {
    const { named, range, splitLarge } = this.#options;
    let { window } = this.#scanner;
    if (named) requireRegularFile(this.#descriptor);
    if (range && requireRegularFile(this.#descriptor).identity !== range.identity) {
      throw new NotSearched("vanished", "was replaced while it was searched");
    }
    // A byte before the range tells whether a line begins exactly at its start.
    let position = range && range.from > 0 ? range.from - 1 : 0;
    let held = this.#read(window, 0, position);
    const isStart = position === 0;
    position += held;
    if (isStart && range === undefined) {
      const order = held < 2 ? undefined : utf16Order(window.buffer);
      if (order !== undefined) return this.#scanUtf16(order);
      if (!named && looksBinary(window.buffer, held)) throw new NotSearched("binary", "binary");
      if (splitLarge && held === window.buffer.length) {
        const file = requireRegularFile(this.#descriptor);
        if (file.size >= LARGE_FILE_BYTES) return this.#result(file);
      }
    }
    let from = isStart ? bomLength(window.buffer.subarray(0, held)) : undefined;
    for (;;) {
      const ended = held < window.buffer.length;
      // The line in which a range starts belongs to the previous range.
      from ??= afterNewline(window, held);
      if (from === undefined && range && position >= range.to) return this.#result();
      const rangeEnd = range && this.#rangeEnd(window, range.to, position, held);
      const isLast = ended || rangeEnd !== undefined;
      let cut = rangeEnd ?? (ended ? held : window.lastNewline(0, held) + 1);
      if (cut === 0 && !isLast && from !== undefined) {
        const larger = this.#scanner.grow(window, this.#options.heartbeat);
        if (larger) {
          const more = this.#read(larger, held, position);
          held += more;
          position += more;
          window = larger;
          continue;
        }
        this.#inPieces = true;
        cut = held;
      }
      if (from === undefined) cut = held;
      else if (from <= cut) this.#search(window, from, cut, isLast);
      if (isLast || (this.#firstOnly && this.#collector.matches > 0)) return this.#result();
      window.buffer.copyWithin(0, cut, held);
      held -= cut;
      if (from !== undefined) from = 0;
      const more = this.#read(window, held, position);
      held += more;
      position += more;
      if (held === 0) return this.#result();
    }
  }

  /**
   * The end in the window of the last line that begins before the file position `to`, if it is there. The window holds
   * the file up to `position`.
   */
  #rangeEnd(window: ByteWindow, to: number, position: number, held: number): number | undefined {
    const end = to - 1 - (position - held);
    return end >= held ? undefined : afterNewline(window, held, Math.max(0, end));
  }

  /** Fills the window from `at` on. Regular files return all available bytes, so a short read is usually the end. */
  #read(window: ByteWindow, at: number, position: number): number {
    let filled = at;
    while (filled < window.buffer.length) {
      this.#options.heartbeat();
      const wanted = window.buffer.length - filled;
      const got = readSync(this.#descriptor, window.buffer, filled, wanted, position + filled - at);
      filled += got;
      if (got === 0 || (got < wanted && !this.#options.inPortions)) break;
    }
    return filled - at;
  }

  #search(window: ByteWindow, from: number, to: number, isLast: boolean): void {
    const before = this.#collector.matches;
    collectMatches({ window, from, to, isLast }, this.#compiled, this.#collector, this.#firstOnly);
    if (before === this.#collector.matches || this.#options.named) return;
    // Few files match, so the search for later binary data is done only for them.
    if (window.buffer.subarray(from, to).includes(0)) throw new NotSearched("binary", "binary");
  }

  #scanUtf16(order: "little" | "big"): FileScan {
    const { size } = requireRegularFile(this.#descriptor);
    if (size > MAX_UTF16_BYTES) throw new NotSearched("tooLarge", "UTF-16 over 64 MB");
    const bytes = Buffer.allocUnsafeSlow(size);
    const held = this.#read(new PlainWindow(bytes), 0, 0);
    const text = utf16ToUtf8(bytes.subarray(0, held), order);
    this.#search(new PlainWindow(text, this.#options.heartbeat), 0, text.length, true);
    return this.#result();
  }

  #result(large?: FileScan["large"]): FileScan {
    const collector = this.#collector;
    return {
      matches: collector.matches,
      collector,
      inPieces: this.#inPieces,
      ...(large !== undefined && { large }),
    };
  }
}

/** The start of the first line that begins after `from`, if it is in the window. */
function afterNewline(window: ByteWindow, held: number, from = 0): number | undefined {
  const lineBreak = window.nextNewline(from, held);
  return lineBreak < held ? lineBreak + 1 : undefined;
}

function open(path: string, boundary: Boundary, named: boolean): number {
  try {
    return named ? boundary.openNamed(path) : boundary.openFound(path);
  } catch (error) {
    throw notSearched(error, path);
  }
}

function requireRegularFile(descriptor: number): { size: number; identity: string } {
  const info = fstatSync(descriptor);
  if (!info.isFile()) throw new NotSearched("special", "not a regular file");
  return { size: info.size, identity: `${info.dev}:${info.ino}` };
}

function notSearched(error: unknown, path = ""): NotSearched {
  if (error instanceof NotSearched) return error;
  // The backtracking stack of the expression is full: that takes a line of many megabytes.
  if (error instanceof RangeError)
    return new NotSearched("unreadable", "a line is too long for the expression");
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  // A name that is not UTF-8 cannot be passed back to the system unchanged.
  if (code === "ENOENT" && path.includes("\ufffd")) return new NotSearched("unreadable", "name is not UTF-8");
  if (code === "ENOENT" || code === "ENOTDIR") return new NotSearched("vanished", code);
  if (code === "ELOOP") return new NotSearched("vanished", "became a link");
  if (["ENXIO", "EAGAIN", "EISDIR", "ESPIPE"].includes(code)) return new NotSearched("special", code);
  return new NotSearched("unreadable", code || message);
}
