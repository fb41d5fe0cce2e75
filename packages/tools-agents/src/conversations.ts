import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ChatMessage } from "@agent/core";
import { isRecord, quote, writeFileAtomic } from "@agent/core/toolkit";

const MAX_IN_MEMORY = 50;
const MAX_FILES = 200;
const ID = /^[A-Za-z][\w-]{0,80}$/;

/** A child that has answered and can be continued. */
export interface KeptChild {
  readonly agent: string;
  readonly messages: readonly ChatMessage[];
  /** Whether it works in its own work tree, under its id. */
  readonly isolation?: "worktree";
}

/**
 * The conversations of children, in memory and, if the host has a directory for it, in files that outlive the process.
 */
export class Conversations {
  readonly #memory = new Map<string, KeptChild>();
  readonly #directory: string | undefined;

  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  newId(agent: string): string {
    return `${agent}-${randomBytes(4).toString("hex")}`;
  }

  /** Never rejects: without a file the child can be continued as long as the process lives. */
  async keep(id: string, child: KeptChild): Promise<void> {
    this.#memory.delete(id);
    this.#memory.set(id, child);
    for (const oldest of this.#memory.keys()) {
      if (this.#memory.size <= MAX_IN_MEMORY) break;
      this.#memory.delete(oldest);
    }
    if (this.#directory === undefined) return;
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(this.#directory, `${id}.json`), JSON.stringify(child), { mode: 0o600 });
      this.#removeOldest(this.#directory);
    } catch {
      // A full disk or a directory without permission.
    }
  }

  /** Throws for an id that is unknown, or whose conversation cannot be read. */
  get(id: string): KeptChild {
    const kept = this.#memory.get(id) ?? this.#read(id);
    if (kept) return kept;
    throw new Error(`there is no agent ${quote(id)} to continue. Start one with agent_run.`);
  }

  #read(id: string): KeptChild | undefined {
    if (this.#directory === undefined || !ID.test(id)) return undefined;
    try {
      const kept: unknown = JSON.parse(readFileSync(join(this.#directory, `${id}.json`), "utf8"));
      const isChild = isRecord(kept) && typeof kept.agent === "string" && Array.isArray(kept.messages);
      return isChild ? (kept as unknown as KeptChild) : undefined;
    } catch {
      return undefined;
    }
  }

  #removeOldest(directory: string): void {
    const files = readdirSync(directory).filter((name) => name.endsWith(".json"));
    if (files.length <= MAX_FILES) return;
    const paths = files.map((name) => join(directory, name));
    const byAge = paths.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => a.at - b.at);
    for (const { path } of byAge.slice(0, files.length - MAX_FILES)) rmSync(path, { force: true });
  }
}
