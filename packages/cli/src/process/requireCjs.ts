import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads a CommonJS dependency with `require`. `import` first scans the whole source of such a module for its exports,
 * which for the config loader costs more than running it.
 */
export const requireCosmiconfig = (): typeof import("cosmiconfig") => require("cosmiconfig");
export const requireCosmiconfigFile = (path: string): unknown => require(`cosmiconfig/${path}`);
export const requireJiti = (): typeof import("jiti") => require("jiti");
