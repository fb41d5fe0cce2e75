import type { PackHost, PackRegistry } from "@agent/core";
import { createPathGuard, packOptions } from "@agent/core/toolkit";
import { GreetTool } from "./tools/greet.js";
import { WriteNoteTool } from "./tools/writeNote.js";

export const packName = "__NAME__";
export const packApiVersion = 1;

/** The block after the pack's name in `agent.config.ts`. */
export interface Options {
  /** Notes are written below this directory only. Default: anywhere. */
  readonly root?: string;
}

/** Registers the tools and says which start disabled. It does nothing else, and nothing happens at import. */
export function register(registry: PackRegistry, host?: PackHost): void {
  const options = packOptions<Options>(packName, host?.options, { root: { type: "string" } });
  registry.register(new GreetTool());
  registry.register(new WriteNoteTool(createPathGuard(options.root)), { enabled: false }); // writes: the user opts in
}
