import { availableParallelism } from "node:os";
import type { OpenExecutor } from "./executor.js";
import { openLocalExecutor } from "./localExecutor.js";
import { Pool } from "./pool.js";
import { openThread } from "./threadExecutor.js";

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
  const local: OpenExecutor = (events) => openLocalExecutor(simd, events);
  return size === 0 ? new Pool(1, local, local) : new Pool(size, (events) => openThread(simd, events), local);
}
