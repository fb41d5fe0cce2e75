// Frozen, so that all instances of a tool and their registries share one list.
export const READS = Object.freeze(["read"] as const);
export const WRITES = Object.freeze(["write"] as const);
export const DESTROYS = Object.freeze(["destroy"] as const);
