import type { CallHooks, HookCall } from "@agent/core";
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { actualDiffs } from "./diffs.js";
import type { TextReader } from "./textReader.js";
import { pathsOf } from "./toolCalls.js";

interface NotedCall {
  readonly paths: readonly string[];
  before: ReadonlyMap<string, string | undefined>;
}

/**
 * Records what calls really change in files. It reads the files in hooks, because a call waits for its hooks. Events
 * arrive later, when the next call may have changed the same file again.
 */
export class FileChanges {
  readonly #cwd: string;
  readonly #read: TextReader;
  readonly #running = new Map<string, NotedCall>();
  readonly #diffs = new Map<string, readonly ToolCallContent[]>();

  constructor(cwd: string, read: TextReader) {
    this.#cwd = cwd;
    this.#read = read;
  }

  /** Hooks for the agent's registry. They never refuse a call and never fail. */
  get hooks(): CallHooks {
    return {
      name: "the editor's view of file changes",
      beforeCall: async (call) => {
        if (mayEdit(call)) await this.#note(call.id, pathsOf(call.args, this.#cwd));
        return undefined;
      },
      afterCall: async ({ id }, { outcome }) => {
        const call = this.#running.get(id);
        this.#running.delete(id);
        if (call && outcome === "ok") this.#diffs.set(id, await actualDiffs(call.before, this.#read));
        return undefined;
      },
    };
  }

  /** Reads the files again after the person decided: a change made while the person was asked is not the call's. */
  async lookAgain(id: string): Promise<void> {
    const call = this.#running.get(id);
    if (call) await this.#note(id, call.paths);
  }

  /** Returns the diffs of a call and forgets them; `undefined` for a call that the hooks did not see. */
  take(id: string): readonly ToolCallContent[] | undefined {
    const diffs = this.#diffs.get(id);
    this.#diffs.delete(id);
    return diffs;
  }

  /** Forgets everything. Called between two messages, because the diffs of a child agent's calls are never taken. */
  clear(): void {
    this.#running.clear();
    this.#diffs.clear();
  }

  async #note(id: string, paths: readonly string[]): Promise<void> {
    const texts = paths.map(async (path) => [path, await this.#read(path)] as const);
    this.#running.set(id, { paths, before: new Map(await Promise.all(texts)) });
  }
}

function mayEdit({ capabilities }: HookCall): boolean {
  return capabilities.includes("write") && !capabilities.includes("execute");
}
