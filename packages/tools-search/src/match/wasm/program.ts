import type { WasmFunction } from "./assembler.js";
import { count, next, previous } from "./programBytes.js";
import { FINDERS } from "./programFind.js";
import { decide } from "./programLines.js";
import { run } from "./programRun.js";

/** The functions may read this many bytes past `end`; what is found there is thrown away. */
export const READ_AHEAD = 128;

/** The inner loops of a search, 16 bytes at a time. */
export const PROGRAM: readonly WasmFunction[] = [...FINDERS, run, count, next, previous, decide];
