import type { ChatTool } from "@agent/core";

// A tool's name may begin with a digit or a dash; a function name of the API may not.
const BEGINNING = /^[a-zA-Z_]/;

/** Maps tool names to names that the API accepts, and back. The same tools always get the same names. */
export class FunctionNames {
  readonly #toWire = new Map<string, string>();
  readonly #fromWire = new Map<string, string>();

  constructor(tools: readonly ChatTool[]) {
    const names = tools.map((tool) => tool.function.name);
    const unfit = names.filter((name) => !BEGINNING.test(name));
    if (unfit.length === 0) return;
    const taken = new Set(names);
    for (const name of unfit) {
      let fitting = `_${name}`;
      while (taken.has(fitting)) fitting = `_${fitting}`;
      taken.add(fitting);
      this.#toWire.set(name, fitting);
      this.#fromWire.set(fitting, name);
    }
  }

  /** The tools with another name on the wire: tool name to wire name. */
  get changed(): ReadonlyMap<string, string> {
    return this.#toWire;
  }

  /** A cache key: objects with the same key map names the same way. */
  get key(): string {
    return this.#toWire.size === 0 ? "" : JSON.stringify([...this.#toWire]);
  }

  /** The wire name of a tool; also for a tool of an earlier request that is no longer registered. */
  toWire(name: string): string {
    return this.#toWire.get(name) ?? (BEGINNING.test(name) ? name : `_${name}`);
  }

  fromWire(name: string): string {
    return this.#fromWire.get(name) ?? name;
  }
}
