import { randomInt } from "node:crypto";
import { RUN_STATES, type RunSummary } from "../engine/run.js";
import type { Place } from "./idleFile.js";

const BLOCK_ROWS = 1024;
const FIRST_SLOTS = 1024;
// Half of the slots stay free: then a search examines two of them on average.
const FULL_AT = 0.5;
const FNV_PRIME = 0x01000193;
const MAX_UINT32 = 0xffffffff;
/** The number of the state "waiting" for runs with calls that wait for a decision. The others are counted from 1. */
const UNDECIDED = RUN_STATES.length + 1;

/** The facts that are counted and filtered without reading the run itself. */
export type RunFacts = Pick<
  RunSummary,
  "state" | "tenant" | "createdAt" | "startedAt" | "endedAt" | "cost"
> & {
  /** Present if calls of the run wait for a decision. */
  readonly undecided?: true;
};

/** The location of a text on disk: in the file of this process (0), or in a segment of the archive, counted from 1. */
export interface StoredPlace extends Place {
  readonly segment: number;
}

/** The data needed besides the rows themselves to read an index from a file. */
export interface IndexHead {
  readonly seed: number;
  readonly rows: number;
  readonly tenants: readonly string[];
}

const FLOATS = ["createdAt", "startedAt", "endedAt", "cost", "position"] as const;
const WORDS = ["hash", "tenant", "bytes"] as const;
const BLOCK_BYTES = BLOCK_ROWS * (8 * FLOATS.length + 4 * WORDS.length + 2 + 1);

type Columns = Readonly<Record<(typeof FLOATS)[number], Float64Array>> &
  Readonly<Record<(typeof WORDS)[number], Uint32Array>> & {
    readonly segment: Uint16Array;
    readonly state: Uint8Array;
    readonly data: Uint8Array;
  };

/** The columns of some rows, one after the other. 0 means: removed (state), none (times, cost), not on disk (bytes). */
function createBlock(data: ArrayBuffer = new ArrayBuffer(BLOCK_BYTES)): Columns {
  let offset = 0;
  const next = <T>(Type: new (data: ArrayBuffer, offset: number, length: number) => T, bytes: number): T => {
    const column = new Type(data, offset, BLOCK_ROWS);
    offset += BLOCK_ROWS * bytes;
    return column;
  };
  // The widest first, so that all of them are aligned.
  const floats = Object.fromEntries(FLOATS.map((name) => [name, next(Float64Array, 8)]));
  const words = Object.fromEntries(WORDS.map((name) => [name, next(Uint32Array, 4)]));
  const rest = { segment: next(Uint16Array, 2), state: next(Uint8Array, 1), data: new Uint8Array(data) };
  return { ...floats, ...words, ...rest } as Columns;
}

/**
 * A row of about 55 bytes for each run, in the order of creation. Rows are found by a hash of the run's id, which is
 * not stored: the caller compares the ids of the candidates.
 */
export class RunIndex {
  readonly #blocks: Columns[] = [];
  readonly #tenants: string[] = [];
  readonly #tenantNumbers = new Map<string, number>();
  /** Open addressing: the row plus one, or 0. */
  #slots = new Uint32Array(FIRST_SLOTS);
  // Differs between directories, so that no one can choose ids with colliding hashes.
  readonly #seed: number;
  #count = 0;
  #rows = 0;

  /** Empty, or from saved data. Throws if its length differs from its header. */
  constructor(saved?: { readonly head: IndexHead; readonly data: Buffer }) {
    this.#seed = saved?.head.seed ?? randomInt(MAX_UINT32);
    if (!saved) return;
    const { rows, tenants } = saved.head;
    const blocks = Math.ceil(rows / BLOCK_ROWS);
    if (saved.data.length !== blocks * BLOCK_BYTES) throw new RangeError("The index of runs is cut off.");
    for (const tenant of tenants) this.#tenantNumber(tenant);
    for (let start = 0; start < saved.data.length; start += BLOCK_BYTES) {
      const data = new Uint8Array(BLOCK_BYTES);
      data.set(saved.data.subarray(start, start + BLOCK_BYTES));
      this.#blocks.push(createBlock(data.buffer));
    }
    this.#rows = rows;
    for (const _ of this.rows()) this.#count++;
    while (rows > this.#slots.length * FULL_AT) this.#slots = new Uint32Array(2 * this.#slots.length);
    for (const row of this.rows()) this.#fillSlot(row);
  }

  /** The existing rows, without removed ones. */
  copy(): RunIndex {
    const head = { seed: this.#seed, rows: 0, tenants: this.#tenants };
    const copy = new RunIndex({ head, data: Buffer.alloc(0) });
    for (const row of this.rows()) copy.#copyRow(this.#block(row), row % BLOCK_ROWS);
    return copy;
  }

  save(): { readonly head: IndexHead; readonly data: readonly Uint8Array[] } {
    const head = { seed: this.#seed, rows: this.#rows, tenants: this.#tenants };
    return { head, data: this.#blocks.map(({ data }) => data) };
  }

  /** How many runs there are. */
  get count(): number {
    return this.#count;
  }

  /** All rows, the oldest first. */
  *rows(): Iterable<number> {
    for (let row = 0; row < this.#rows; row++) if (this.#isThere(row)) yield row;
  }

  *newestRows(): Iterable<number> {
    for (let row = this.#rows - 1; row >= 0; row--) if (this.#isThere(row)) yield row;
  }

  /** The rows of runs that were started or ended since then. */
  *rowsSince(time: number): Iterable<number> {
    for (const [number, { state, startedAt, endedAt }] of this.#blocks.entries()) {
      for (let at = 0; at < BLOCK_ROWS; at++) {
        const isRecent = (startedAt[at] ?? 0) >= time || (endedAt[at] ?? 0) >= time;
        if (isRecent && state[at] !== 0) yield number * BLOCK_ROWS + at;
      }
    }
  }

  /** The rows that may belong to a run with this id: rarely more than one. */
  *candidates(id: string): Iterable<number> {
    const hash = this.#hash(id);
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#slots[slot] ?? 0) - 1;
      if (row === -1) return;
      if (this.#block(row).hash[row % BLOCK_ROWS] === hash && this.#isThere(row)) yield row;
    }
  }

  /** Makes a row for a new run. */
  add(run: RunSummary): number {
    const row = this.#newRow();
    this.#block(row).hash[row % BLOCK_ROWS] = this.#hash(run.id);
    this.set(row, run, undefined);
    this.#makeFindable(row);
    return row;
  }

  #newRow(): number {
    const row = this.#rows++;
    this.#count++;
    if (row % BLOCK_ROWS === 0) this.#blocks.push(createBlock());
    return row;
  }

  #copyRow(from: Columns, at: number): void {
    const row = this.#newRow();
    const block = this.#block(row);
    const to = row % BLOCK_ROWS;
    for (const name of [...FLOATS, ...WORDS, "segment", "state"] as const)
      block[name][to] = from[name][at] ?? 0;
    this.#makeFindable(row);
  }

  #makeFindable(row: number): void {
    if (this.#rows > this.#slots.length * FULL_AT) this.#growSlots();
    else this.#fillSlot(row);
  }

  /** `place` is the run's location on disk, if it is there. */
  set(row: number, run: RunSummary, place: StoredPlace | undefined): void {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    const isUndecided = run.state === "waiting" && run.approvals.length > 0;
    block.state[at] = isUndecided ? UNDECIDED : RUN_STATES.indexOf(run.state) + 1;
    block.tenant[at] = this.#tenantNumber(run.tenant);
    block.createdAt[at] = run.createdAt;
    block.startedAt[at] = run.startedAt ?? 0;
    block.endedAt[at] = run.endedAt ?? 0;
    block.cost[at] = run.cost ?? 0;
    this.setPlace(row, place);
  }

  setPlace(row: number, place: StoredPlace | undefined): void {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    block.position[at] = place?.position ?? 0;
    block.bytes[at] = place?.bytes ?? 0;
    block.segment[at] = place?.segment ?? 0;
  }

  /** The row is never reused; a new table without it is created when the log is rewritten. */
  remove(row: number): void {
    this.#block(row).state[row % BLOCK_ROWS] = 0;
    this.#count--;
  }

  facts(row: number): RunFacts {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    const [startedAt, endedAt, cost] = [block.startedAt[at], block.endedAt[at], block.cost[at]];
    const isUndecided = block.state[at] === UNDECIDED;
    return {
      state: isUndecided ? "waiting" : (RUN_STATES[(block.state[at] ?? 0) - 1] ?? "queued"),
      ...(isUndecided && { undecided: true }),
      tenant: this.#tenants[block.tenant[at] ?? 0] ?? "",
      createdAt: block.createdAt[at] ?? 0,
      ...(startedAt && { startedAt }),
      ...(endedAt && { endedAt }),
      ...(cost && { cost }),
    };
  }

  place(row: number): StoredPlace {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    return {
      segment: block.segment[at] ?? 0,
      position: block.position[at] ?? 0,
      bytes: block.bytes[at] ?? 0,
    };
  }

  #block(row: number): Columns {
    const block = this.#blocks[Math.floor(row / BLOCK_ROWS)];
    if (!block) throw new RangeError(`There is no row ${row}.`);
    return block;
  }

  #isThere(row: number): boolean {
    return this.#block(row).state[row % BLOCK_ROWS] !== 0;
  }

  #tenantNumber(tenant: string): number {
    const known = this.#tenantNumbers.get(tenant);
    if (known !== undefined) return known;
    const number = this.#tenants.push(tenant) - 1;
    this.#tenantNumbers.set(tenant, number);
    return number;
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (const row of this.rows()) this.#fillSlot(row);
  }

  #fillSlot(row: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#block(row).hash[row % BLOCK_ROWS] ?? 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = row + 1;
  }

  /** FNV-1a. */
  #hash(id: string): number {
    let hash = this.#seed;
    for (let index = 0; index < id.length; index++) {
      hash = Math.imul(hash ^ id.charCodeAt(index), FNV_PRIME);
    }
    return hash >>> 0;
  }
}
