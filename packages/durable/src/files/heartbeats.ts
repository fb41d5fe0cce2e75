import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { hasEnded, processTag } from "@agent/internal";
import type { EngineWorkOptions, WorkerInfo } from "../engine/engine.js";

const BEATS_PER_LEASE = 4;
const LONGEST_BEAT_MS = 1000;

/** Heartbeats of the workers that share a directory: one file each, rewritten while the worker lives. */
export class Heartbeats {
  readonly #directory: string;
  readonly #seen = new Map<string, { readonly beat: string; readonly at: number }>();

  constructor(directory: string) {
    this.#directory = join(directory, "workers");
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Starts the heartbeat. Returns the worker's id, and a function that stops it. */
  start(options: EngineWorkOptions): { id: string; stop: () => void } {
    const { leaseMs, onFault, name, concurrency, labels, definitions } = options;
    const id = `${processTag()}.${crypto.randomUUID().slice(0, 8)}`;
    const info = { name: `${name} ${id}`, concurrency, labels, definitions, startedAt: Date.now() };
    let beat = 0;
    const write = (): void => {
      beat++;
      try {
        writeFileSync(this.#path(id), JSON.stringify({ beat, leaseMs, info }), { mode: 0o600 });
      } catch (error) {
        onFault(error);
      }
    };
    write();
    const timer = setInterval(write, Math.min(LONGEST_BEAT_MS, leaseMs / BEATS_PER_LEASE));
    return {
      id,
      stop: () => {
        clearInterval(timer);
        rmSync(this.#path(id), { force: true });
      },
    };
  }

  /**
   * Why a worker counts as lost, or `undefined` if it does not. An exited process is detected immediately; one that is
   * suspended or hangs, when its heartbeat has not changed for a lease, by this process's monotonic clock: changes of
   * the system clock have no effect.
   */
  findLoss(id: string, leaseMs: number): string | undefined {
    if (hasEnded(id.slice(0, id.lastIndexOf("."))) === true) {
      this.#forget(id);
      return "its process has ended.";
    }
    const { beat, lease } = this.#read(id, leaseMs);
    const now = performance.now();
    const seen = this.#seen.get(id);
    if (seen?.beat !== beat) {
      this.#seen.set(id, { beat, at: now });
      return undefined;
    }
    if (now - seen.at <= lease) return undefined;
    this.#forget(id);
    return `it sent no heartbeat for ${lease} ms.`;
  }

  /** The living workers: their file is fresh, and their process has not exited. */
  list(): readonly Omit<WorkerInfo, "runs">[] {
    return readdirSync(this.#directory).flatMap((file) => {
      const path = join(this.#directory, file);
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      const id = file.slice(0, -".json".length);
      if (hasEnded(id.slice(0, id.lastIndexOf("."))) === true) return [];
      try {
        const { leaseMs, info } = JSON.parse(readFileSync(path, "utf8"));
        return age <= Math.max(leaseMs, 2 * LONGEST_BEAT_MS) && info ? [info] : [];
      } catch {
        // It is being written, or was removed.
        return [];
      }
    });
  }

  #read(id: string, leaseMs: number): { beat: string; lease: number } {
    try {
      const text = readFileSync(this.#path(id), "utf8");
      const value: unknown = JSON.parse(text);
      const lease = isRecord(value) && typeof value.leaseMs === "number" ? value.leaseMs : leaseMs;
      return { beat: text, lease };
    } catch {
      // The file is missing or being written: the worker may still be alive.
      return { beat: "", lease: leaseMs };
    }
  }

  #forget(id: string): void {
    this.#seen.delete(id);
    rmSync(this.#path(id), { force: true });
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}
