import { availableParallelism } from "node:os";
import { openLocalLane } from "./localLane.js";
import type { OpenLane } from "./messages.js";
import { Pool } from "./pool.js";
import { findWorkerFile, openThreadLane } from "./threadLane.js";

const DEFAULT_WORKERS = 2;

export interface PoolOptions {
  /** How many threads; 0 works in the host's own thread. Default: 2, or 1 on a single core. */
  readonly workers?: number | undefined;
  /** `false` keeps WebAssembly out, for comparing the two. */
  readonly simd?: boolean;
}

const pools = new Map<string, Pool>();

/** The pool for these options: tools and registries with the same options share one. */
export function sharedPool({ workers, simd = true }: PoolOptions = {}): Pool {
  const size = workers ?? Math.min(DEFAULT_WORKERS, availableParallelism());
  const key = `${size} ${simd}`;
  const pool = pools.get(key) ?? createPool(size, simd);
  pools.set(key, pool);
  return pool;
}

function createPool(size: number, simd: boolean): Pool {
  const local: OpenLane = (events) => openLocalLane(simd, events);
  const file = size === 0 ? undefined : findWorkerFile();
  if (file === undefined) return new Pool(1, local, local);
  return new Pool(size, (events) => openThreadLane(file, simd, events), local);
}
