import type { ChatTool } from "@agent/core";

// Where the API takes less than a tool's name may hold: it must not begin with a digit or a dash.
const BEGINNING = /^[a-zA-Z_]/;

/** The names of a request's tools as the API takes them, and back. The same tools always get the same names. */
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

  /** The tools that are called differently on the wire: their name and the other one. */
  get changed(): ReadonlyMap<string, string> {
    return this.#toWire;
  }

  /** Two objects with the same key change names alike. */
  get key(): string {
    return this.#toWire.size === 0 ? "" : JSON.stringify([...this.#toWire]);
  }

  /** Also for a tool of an earlier request, which may be gone. */
  toWire(name: string): string {
    return this.#toWire.get(name) ?? (BEGINNING.test(name) ? name : `_${name}`);
  }

  fromWire(name: string): string {
    return this.#fromWire.get(name) ?? name;
  }
}
