import { firstOfMany } from "../needles/firstOfMany.js";
import { MAX_NEEDLE_BYTES, type Needle } from "../needles/needle.js";
import { MAX_SET_BYTES, type NeedleSet, type SetTable } from "../needles/needleSet.js";
import type { Dfa } from "../regex/dfa.js";
import { assemble, type WasmFunction } from "../wasm/assembler.js";
import { PROGRAM, READ_AHEAD } from "../wasm/program.js";
import { COLUMNS_AT, TABLE_AT } from "../wasm/programLines.js";
import { MANY, SET_AT } from "../wasm/programMany.js";

const NEWLINE = 0x0a;

/** A block of memory that files are read into, and the searches on it. Positions are indexes of `buffer`. */
export interface ByteWindow {
  readonly buffer: Buffer;
  /** The first place of the needle in [from, to), or -1. */
  find(needle: Needle, from: number, to: number): number;
  /** A function that finds the first place of any of the needles in [from, to), or -1, for a `from` that only grows. */
  finder(set: NeedleSet, to: number): (from: number) => number;
  /**
   * Runs the DFA over the lines of [from, to), up to the first that matches or may match. Returns twice the place
   * where that showed, plus one if the expression must decide, or -1. The place is in the line or the end of it.
   */
  decide(dfa: Dfa, from: number, to: number): number;
  /** The first line break in [from, to), or `to`. */
  nextNewline(from: number, to: number): number;
  /** The last line break in [from, to), or -1. */
  lastNewline(from: number, to: number): number;
  countNewlines(from: number, to: number): number;
}

/** After so many bytes, a power of two, a search through a large window shows that it goes on. */
const HEARTBEAT_BYTES = 4 * 1024 * 1024;

/** Works everywhere, on memory of any size. */
export class PlainWindow implements ByteWindow {
  constructor(
    readonly buffer: Buffer,
    /** Called now and then during a long search. */
    private readonly heartbeat: () => void = () => undefined,
  ) {}

  find(needle: Needle, from: number, to: number): number {
    if (needle.kind === "run") return this.#findRun(needle, from, to);
    if (needle.kind !== "text") return this.#findByByte(needle, from, to);
    const at = this.buffer.indexOf(needle.bytes, from);
    return at === -1 || at + needle.length > to ? -1 : at;
  }

  finder({ needles }: NeedleSet, to: number): (from: number) => number {
    return firstOfMany(needles, (needle, from) => this.find(needle, from, to));
  }

  #findRun(needle: Needle, from: number, to: number): number {
    let length = 0;
    for (let at = from; at < to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.heartbeat();
      length = isInClass(needle, 0, this.buffer[at] ?? 0) ? length + 1 : 0;
      if (length === needle.length) return at + 1 - length;
    }
    return -1;
  }

  #findByByte(needle: Needle, from: number, to: number): number {
    const fits = needle.kind === "classes" ? isInClass : isSameLetter;
    for (let at = from; at + needle.length <= to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.heartbeat();
      let i = 0;
      while (i < needle.length && fits(needle, i, this.buffer[at + i] ?? 0)) i++;
      if (i === needle.length) return at;
    }
    return -1;
  }

  decide({ columnOf, table, lineStart, rowBytes }: Dfa, from: number, to: number): number {
    const { buffer } = this;
    let row = lineStart;
    for (let at = from; at < to; at++) {
      if (at % HEARTBEAT_BYTES === 0) this.heartbeat();
      row = table[(row + (columnOf[buffer[at] ?? 0] ?? 0)) >> 1] ?? 0;
      if (row >= lineStart) continue;
      if (row > 0) return at * 2 + (row > rowBytes ? 1 : 0);
      at = this.nextNewline(at, to);
      row = lineStart;
    }
    if (row === lineStart) return -1;
    // The last line has no line break, but it ends all the same.
    return table[(row + (columnOf[NEWLINE] ?? 0)) >> 1] === rowBytes ? to * 2 : -1;
  }

  nextNewline(from: number, to: number): number {
    const at = this.buffer.indexOf(NEWLINE, from);
    return at === -1 || at > to ? to : at;
  }

  lastNewline(from: number, to: number): number {
    // A negative offset would count from the end of the buffer.
    const at = to <= from ? -1 : this.buffer.lastIndexOf(NEWLINE, to - 1);
    return at < from ? -1 : at;
  }

  countNewlines(from: number, to: number): number {
    let total = 0;
    for (let at = this.nextNewline(from, to); at < to; at = this.nextNewline(at + 1, to)) total++;
    return total;
  }
}

function isSameLetter({ bytes, folds }: Needle, place: number, byte: number): boolean {
  return (byte | (folds[place] ?? 0)) === bytes[place];
}

function isInClass({ bytes, folds }: Needle, place: number, byte: number): boolean {
  return ((bytes[place * 16 + (byte & 15)] ?? 0) & (folds[byte >> 4] ?? 0)) !== 0;
}

/** The part of the WebAssembly API in use; the language's own library has no types for it. */
interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, Search>> };
}

interface Memory {
  readonly buffer: ArrayBuffer;
}

type Search = (...args: number[]) => number;
const PAGE = 65_536;
/** The needle in use lies in the first page, its folds and a DFA behind it; then a set of needles, and the window. */
const FOLDS_AT = MAX_NEEDLE_BYTES;
const WINDOW_AT = SET_AT + MAX_SET_BYTES;
/** Up to so many needles, it takes less time to look for each by itself. */
const FEW = 2;

/** The same searches with vector instructions: several times faster, and file reads land in its memory. */
export class SimdWindow implements ByteWindow {
  readonly buffer: Buffer;
  readonly #find: Readonly<Record<Needle["kind"], Search>>;
  readonly #decide: Search;
  readonly #count: Search;
  readonly #next: Search;
  readonly #previous: Search;
  readonly #memory: Uint8Array;
  readonly #wasmMemory: Memory;
  /** Made when it is first needed; most searches are for one needle. */
  #many: Readonly<Record<string, Search>> | undefined;
  #loaded: Needle | undefined;
  #set: SetTable | undefined;
  #dfa: Dfa | undefined;

  /** Throws where WebAssembly or its vector instructions are missing. */
  constructor(size: number) {
    const { Memory } = webAssembly();
    const pages = Math.ceil((WINDOW_AT + size + READ_AHEAD) / PAGE);
    const memory = new Memory({ initial: pages, maximum: pages });
    const exports = load(PROGRAM, memory);
    this.#find = {
      text: required(exports.text),
      folded: required(exports.folded),
      classes: required(exports.classes),
      run: required(exports.run),
    };
    this.#decide = required(exports.decide);
    this.#count = required(exports.count);
    this.#next = required(exports.next);
    this.#previous = required(exports.previous);
    this.#wasmMemory = memory;
    this.#memory = new Uint8Array(memory.buffer);
    this.buffer = Buffer.from(memory.buffer, WINDOW_AT, size);
  }

  find(needle: Needle, from: number, to: number): number {
    if (this.#loaded !== needle) this.#load(needle);
    const at = this.#find[needle.kind](
      WINDOW_AT + from,
      WINDOW_AT + to,
      0,
      FOLDS_AT,
      needle.length,
      needle.rare[0],
      needle.rare[1],
    );
    return at === -1 ? -1 : at - WINDOW_AT;
  }

  finder(set: NeedleSet, to: number): (from: number) => number {
    const table = set.size > FEW ? set.table : undefined;
    if (table === undefined) return firstOfMany(set.needles, (needle, from) => this.find(needle, from, to));
    if (this.#set !== table) this.#memory.set(table.bytes, SET_AT);
    this.#set = table;
    const { shortest, offsets } = table;
    this.#many ??= load(MANY, this.#wasmMemory);
    const search = required(this.#many[`many${offsets.length}`]);
    const [first = 0, second = 0, third = 0] = offsets;
    return (from) => {
      const at = search(WINDOW_AT + from, WINDOW_AT + to, shortest, first, second, third);
      return at === -1 ? -1 : at - WINDOW_AT;
    };
  }

  #load(needle: Needle): void {
    this.#memory.set(needle.bytes, 0);
    this.#memory.set(needle.folds, FOLDS_AT);
    this.#loaded = needle;
  }

  decide(dfa: Dfa, from: number, to: number): number {
    if (this.#dfa !== dfa) this.#loadDfa(dfa);
    const { lineStart, rowBytes } = dfa;
    const found = this.#decide(WINDOW_AT + from, WINDOW_AT + to, lineStart, rowBytes);
    return found === -1 ? -1 : found - WINDOW_AT * 2;
  }

  #loadDfa(dfa: Dfa): void {
    const { buffer, byteOffset, byteLength } = dfa.table;
    this.#memory.set(dfa.columnOf, COLUMNS_AT);
    this.#memory.set(new Uint8Array(buffer, byteOffset, byteLength), TABLE_AT);
    this.#dfa = dfa;
  }

  nextNewline(from: number, to: number): number {
    return this.#next(WINDOW_AT + from, WINDOW_AT + to, NEWLINE) - WINDOW_AT;
  }

  lastNewline(from: number, to: number): number {
    const at = this.#previous(WINDOW_AT + from, WINDOW_AT + to, NEWLINE);
    return at === -1 ? -1 : at - WINDOW_AT;
  }

  countNewlines(from: number, to: number): number {
    return this.#count(WINDOW_AT + from, WINDOW_AT + to, NEWLINE);
  }
}

const compiled = new Map<readonly WasmFunction[], object>();

/** The functions of a program on a memory. It is compiled once. */
function load(program: readonly WasmFunction[], memory: Memory): Readonly<Record<string, Search>> {
  const { Module, Instance } = webAssembly();
  const module = compiled.get(program) ?? new Module(assemble(program));
  compiled.set(program, module);
  return new Instance(module, { env: { memory } }).exports;
}

function webAssembly(): WebAssemblyApi {
  return (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
}

function required(search: Search | undefined): Search {
  if (search === undefined) throw new Error("The search program lacks a function.");
  return search;
}

/** The fastest window this machine has. Both kinds give the same answers. */
export function createWindow(size: number, simd = true): ByteWindow {
  if (simd) {
    try {
      return new SimdWindow(size);
    } catch {
      // No WebAssembly here, or none with vectors: the plain one does the same, slower.
    }
  }
  return new PlainWindow(Buffer.allocUnsafeSlow(size));
}
