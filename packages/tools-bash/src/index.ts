import type { PackHost, PackRegistry } from "@agent/core";

export const packName = "@agent/tools-bash";
export const packApiVersion = 1;

export function register(_registry: PackRegistry, _host?: PackHost): void {}
