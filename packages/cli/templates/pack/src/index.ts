import type { PackHost, PackRegistry } from "@agent/core";
import { createPathGuard, packOptions } from "@agent/core/toolkit";
import { greet } from "./tools/greet.js";
import { writeNote } from "./tools/writeNote.js";

export const packName = "__NAME__";
export const packApiVersion = 1;

/** The block after the pack's name in `agent.config.ts`. */
export interface Options {
  /** Notes are written below this directory only. Default: anywhere. */
  readonly root?: string;
}

/** The tools this pack brings: an editor completes them where somebody selects the pack. */
export type ToolName = (typeof greet | ReturnType<typeof writeNote>)["name"];

// A config may select the pack by its name alone: this is how its options and tools are known there, too.
declare module "@agent/core" {
  interface NamedPacks {
    [packName]: { register: typeof register };
  }
}

/** Registers the tools and says which start disabled. It does nothing else, and nothing happens at import. */
export function register(registry: PackRegistry<ToolName>, host?: PackHost<Options>): void {
  const options = packOptions<Options>(packName, host?.options, { root: { type: "string" } });
  registry.register(greet);
  registry.register(writeNote(createPathGuard(options.root)), { enabled: false }); // writes: the user opts in
}
