import type { PackHost, PackRegistry } from "@agent/core";
import type { BashOptions } from "./options.js";
import { RunBashTool } from "./tools/bash.js";

export { packName } from "./options.js";
export const packApiVersion = 1;
export { RunBashTool };

export function register(registry: PackRegistry, host?: PackHost): void {
  registry.register(new RunBashTool(host?.options as BashOptions | undefined), { enabled: false });
}
