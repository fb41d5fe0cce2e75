import { BYTE_NEWLINE, countNewlines } from "./newlines.js";

/** How many bytes a room holds. */
export const ROOM_BYTES = 4 * 1024 * 1024;

/** Memory to read a file into, in which newlines are counted as fast as the memory can be read. */
export interface CountingRoom {
  readonly bytes: Buffer;
  /** The number of newlines in `bytes` from `start` to `end`. */
  count(start: number, end: number): number;
}

// One room is kept for the next file: every new one costs a compilation and gigabytes of address space.
let idle: CountingRoom | undefined;

/** Lends a room to `work`, alone. Nothing may be reading into it any more when `work` settles. */
export async function inCountingRoom<T>(work: (room: CountingRoom) => Promise<T>): Promise<T> {
  const room = idle ?? createRoom();
  idle = undefined;
  try {
    return await work(room);
  } finally {
    idle = room;
  }
}

// A WebAssembly module with 4 MiB of memory and a function count(start, end): the newlines in there, sixteen
// bytes a round. `start` comes before `end`, and they are a multiple of sixteen apart.
const STEP = 16;
const PAGES = ROOM_BYTES / 65_536;
// biome-ignore format: one instruction a line
const CODE = [
  0x02, 0x01, 0x7f, 0x01, 0x7b, // locals: $total is an i32, $newlines a v128
  0x41, 0x0a,                   // i32.const 10
  0xfd, 0x0f,                   // i8x16.splat
  0x21, 0x03,                   // local.set $newlines
  0x03, 0x40,                   // loop
  0x20, 0x00,                   //   local.get $start
  0xfd, 0x00, 0x00, 0x00,       //   v128.load
  0x20, 0x03,                   //   local.get $newlines
  0xfd, 0x23,                   //   i8x16.eq
  0xfd, 0x64,                   //   i8x16.bitmask
  0x69,                         //   i32.popcnt
  0x20, 0x02,                   //   local.get $total
  0x6a,                         //   i32.add
  0x21, 0x02,                   //   local.set $total
  0x20, 0x00,                   //   local.get $start
  0x41, STEP,                   //   i32.const 16
  0x6a,                         //   i32.add
  0x22, 0x00,                   //   local.tee $start
  0x20, 0x01,                   //   local.get $end
  0x49,                         //   i32.lt_u
  0x0d, 0x00,                   //   br_if the loop again
  0x0b,                         // end
  0x20, 0x02,                   // local.get $total
  0x0b,                         // end
];
// biome-ignore format: one section a line
const MODULE = [
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,       // "\0asm", version 1
  0x01, 0x07, 0x01, 0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f, // types: (i32, i32) -> i32
  0x03, 0x02, 0x01, 0x00,                               // functions: one, of that type
  0x05, 0x03, 0x01, 0x00, PAGES,                        // memory: so many pages of 64 KiB
  0x07, 0x09, 0x02, 0x01, 0x63, 0x00, 0x00, 0x01, 0x6d, 0x02, 0x00, // exports: "c" the function, "m" the memory
  0x0a, CODE.length + 2, 0x01, CODE.length, ...CODE,
];

/** The part of the WebAssembly API in use; the language's own library has no types for it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: {
      readonly c: (start: number, end: number) => number;
      readonly m: { readonly buffer: ArrayBuffer };
    };
  };
}

function createRoom(): CountingRoom {
  try {
    return fastRoom();
  } catch {
    return plainRoom();
  }
}

/** Throws where there is no WebAssembly (`--jitless`), or no address space left for it. */
export function fastRoom(): CountingRoom {
  const { Instance, Module } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  const { c, m } = new Instance(new Module(new Uint8Array(MODULE))).exports;
  const bytes = Buffer.from(m.buffer);
  return {
    bytes,
    count(start, end) {
      const steps = start + Math.floor((end - start) / STEP) * STEP;
      const rest = countNewlines(bytes.subarray(steps, end), BYTE_NEWLINE);
      return steps > start ? c(start, steps) + rest : rest;
    },
  };
}

/** Works everywhere. */
export function plainRoom(): CountingRoom {
  const bytes = Buffer.allocUnsafeSlow(ROOM_BYTES);
  return { bytes, count: (start, end) => countNewlines(bytes.subarray(start, end), BYTE_NEWLINE) };
}
