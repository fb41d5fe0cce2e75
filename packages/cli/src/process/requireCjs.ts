import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * Loads a CommonJS dependency with `require`. `import` first scans the whole source of such a module for its exports,
 * which for the config loader costs more than running it.
 */
export const requireCosmiconfig = (): typeof import("cosmiconfig") => require("cosmiconfig");
export const requireCosmiconfigFile = (path: string): unknown => require(`cosmiconfig/${path}`);
export const requireJiti = (): typeof import("jiti") => require("jiti");

/** The module of jiti that another process imports to load TypeScript. */
export const jitiFile = (): string => join(dirname(require.resolve("jiti/package.json")), "lib", "jiti.mjs");
