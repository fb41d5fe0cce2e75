import { firstOfMany } from "../needles/firstOfMany.js";
import type { Needle } from "../needles/needle.js";
import type { NeedleSet, SetTable } from "../needles/needleSet.js";
import type { Dfa } from "../regex/dfa.js";
import { COLUMNS_AT, FOLDS_AT, NEEDLE_AT, READ_AHEAD, SET_AT, TABLE_AT, WINDOW_AT } from "../wasm/layout.js";
import { createMemory, instantiate, type WasmFunction, type WasmMemory } from "../wasm/programs.js";
import type { ByteWindow } from "./byteWindow.js";

const NEWLINE = 0x0a;
const PAGE = 65_536;
/** Up to this many needles, searching for each separately is faster. */
const FEW = 2;

/** The same searches with vector instructions: several times faster, and file reads land in its memory. */
export class SimdWindow implements ByteWindow {
  readonly buffer: Buffer;
  readonly #memory: WasmMemory;
  readonly #bytes: Uint8Array;
  readonly #count: WasmFunction;
  readonly #next: WasmFunction;
  readonly #previous: WasmFunction;
  readonly #find: Readonly<Record<Needle["kind"], () => WasmFunction>>;
  readonly #findMany: readonly [two: () => WasmFunction, three: () => WasmFunction];
  readonly #decide: () => WasmFunction;
  #loaded: Needle | undefined;
  #set: SetTable | undefined;
  #dfa: Dfa | undefined;

  /** Throws if WebAssembly or its vector instructions are missing. */
  constructor(size: number) {
    const pages = Math.ceil((WINDOW_AT + size + READ_AHEAD) / PAGE);
    this.#memory = createMemory(pages);
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.buffer = Buffer.from(this.#memory.buffer, WINDOW_AT, size);
    const newlines = instantiate("newlines", this.#memory);
    this.#count = newlines("count");
    this.#next = newlines("next");
    this.#previous = newlines("previous");
    this.#find = {
      text: this.#whenNeeded("findText", "text"),
      folded: this.#whenNeeded("findFolded", "folded"),
      classes: this.#whenNeeded("findClasses", "classes"),
      run: this.#whenNeeded("findRun", "run"),
    };
    this.#findMany = [this.#whenNeeded("findMany2", "many2"), this.#whenNeeded("findMany3", "many3")];
    this.#decide = this.#whenNeeded("dfa", "decide");
  }

  /** A function that is compiled on first use: one search needs one or two of them. */
  #whenNeeded(program: Parameters<typeof instantiate>[0], name: string): () => WasmFunction {
    let found: WasmFunction | undefined;
    return () => {
      found ??= instantiate(program, this.#memory)(name);
      return found;
    };
  }

  find(needle: Needle, from: number, to: number): number {
    if (this.#loaded !== needle) this.#load(needle);
    const [rarest, second] = needle.rare;
    const search = this.#find[needle.kind]();
    const at = search(WINDOW_AT + from, WINDOW_AT + to, NEEDLE_AT, FOLDS_AT, needle.length, rarest, second);
    return at === -1 ? -1 : at - WINDOW_AT;
  }

  finder(set: NeedleSet, to: number): (from: number) => number {
    const table = set.size > FEW ? set.table : undefined;
    if (table === undefined) return firstOfMany(set.needles, (needle, from) => this.find(needle, from, to));
    if (this.#set !== table) this.#bytes.set(table.bytes, SET_AT);
    this.#set = table;
    const { shortest, offsets } = table;
    const [two, three] = this.#findMany;
    const search = offsets.length === 2 ? two() : three();
    const [first = 0, second = 0, third = 0] = offsets;
    return (from) => {
      const at = search(WINDOW_AT + from, WINDOW_AT + to, shortest, first, second, third);
      return at === -1 ? -1 : at - WINDOW_AT;
    };
  }

  #load(needle: Needle): void {
    this.#bytes.set(needle.bytes, NEEDLE_AT);
    this.#bytes.set(needle.folds, FOLDS_AT);
    this.#loaded = needle;
  }

  decide(dfa: Dfa, from: number, to: number): number {
    if (this.#dfa !== dfa) this.#loadDfa(dfa);
    const { lineStart, rowBytes } = dfa;
    const found = this.#decide()(WINDOW_AT + from, WINDOW_AT + to, lineStart, rowBytes);
    return found === -1 ? -1 : found - WINDOW_AT * 2;
  }

  #loadDfa(dfa: Dfa): void {
    const { buffer, byteOffset, byteLength } = dfa.table;
    this.#bytes.set(dfa.columnOf, COLUMNS_AT);
    this.#bytes.set(new Uint8Array(buffer, byteOffset, byteLength), TABLE_AT);
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
