import { defineConfig, type Options } from "tsup";

/** Packages of the workspace that are not published become part of those that are. No public type may name theirs. */
export const noExternal = ["@agent/internal"];

/** One build for every package: ESM for Node 20, with types next to it. */
export function packageBuild(options: Options): ReturnType<typeof defineConfig> {
  return defineConfig({
    format: ["esm"],
    target: "node20",
    platform: "node",
    noExternal,
    dts: true,
    // The build is readable as it is, and maps with their sources would be two thirds of what a user installs.
    sourcemap: false,
    clean: true,
    treeshake: true,
    // "node:fs" must not become "fs", which Deno and some bundlers do not know.
    removeNodeProtocol: false,
    ...options,
  });
}
