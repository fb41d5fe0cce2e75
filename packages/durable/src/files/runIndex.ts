import { randomInt } from "node:crypto";
import { RUN_STATES, type RunSummary } from "../engine/run.js";
import type { Place } from "./idleFile.js";

const BLOCK_ROWS = 1024;
const FIRST_SLOTS = 1024;
// Half of the slots stay free: then a search looks at two of them on average.
const FULL_AT = 0.5;
const FNV_PRIME = 0x01000193;
const MAX_UINT32 = 0xffffffff;

/** What is counted and filtered without reading the run itself. */
export type RunFacts = Pick<RunSummary, "state" | "tenant" | "createdAt" | "startedAt" | "endedAt">;

/** The columns of some rows. 0 is: removed (state), none (times), not on disk (bytes). */
class Block {
  readonly hash = new Uint32Array(BLOCK_ROWS);
  readonly state = new Uint8Array(BLOCK_ROWS);
  readonly tenant = new Uint32Array(BLOCK_ROWS);
  readonly createdAt = new Float64Array(BLOCK_ROWS);
  readonly startedAt = new Float64Array(BLOCK_ROWS);
  readonly endedAt = new Float64Array(BLOCK_ROWS);
  readonly position = new Float64Array(BLOCK_ROWS);
  readonly bytes = new Uint32Array(BLOCK_ROWS);
}

/**
 * A row of about 50 bytes for each run, in the order of creation. Rows are found by a hash of the run's id, which is
 * not kept: anyone who looks for a run compares the ids of the candidates.
 */
export class RunIndex {
  readonly #blocks: Block[] = [];
  readonly #tenants: string[] = [];
  readonly #tenantNumbers = new Map<string, number>();
  /** Open addressing: the row plus one, or 0. */
  #slots = new Uint32Array(FIRST_SLOTS);
  // Differs between processes, so that no one can choose ids that all have one hash.
  readonly #seed = randomInt(MAX_UINT32);
  #count = 0;
  #rows = 0;

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

  /** The rows that may be of a run with this id: seldom more than one. */
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
    const row = this.#rows++;
    this.#count++;
    if (row % BLOCK_ROWS === 0) this.#blocks.push(new Block());
    this.#block(row).hash[row % BLOCK_ROWS] = this.#hash(run.id);
    this.set(row, run, undefined);
    if (this.#rows > this.#slots.length * FULL_AT) this.#growSlots();
    else this.#fillSlot(row);
    return row;
  }

  /** `place` is where the run is on disk, if it is there. */
  set(row: number, run: RunFacts, place: Place | undefined): void {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    block.state[at] = RUN_STATES.indexOf(run.state) + 1;
    block.tenant[at] = this.#tenantNumber(run.tenant);
    block.createdAt[at] = run.createdAt;
    block.startedAt[at] = run.startedAt ?? 0;
    block.endedAt[at] = run.endedAt ?? 0;
    block.position[at] = place?.position ?? 0;
    block.bytes[at] = place?.bytes ?? 0;
  }

  /** The row is never used again; a new table without it is made when the log is rewritten. */
  remove(row: number): void {
    this.#block(row).state[row % BLOCK_ROWS] = 0;
    this.#count--;
  }

  facts(row: number): RunFacts {
    const block = this.#block(row);
    const at = row % BLOCK_ROWS;
    const [startedAt, endedAt] = [block.startedAt[at], block.endedAt[at]];
    return {
      state: RUN_STATES[(block.state[at] ?? 0) - 1] ?? "queued",
      tenant: this.#tenants[block.tenant[at] ?? 0] ?? "",
      createdAt: block.createdAt[at] ?? 0,
      ...(startedAt && { startedAt }),
      ...(endedAt && { endedAt }),
    };
  }

  place(row: number): Place {
    const block = this.#block(row);
    return { position: block.position[row % BLOCK_ROWS] ?? 0, bytes: block.bytes[row % BLOCK_ROWS] ?? 0 };
  }

  #block(row: number): Block {
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
