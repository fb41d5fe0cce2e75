import { test } from "vitest";
import { expectLightImport } from "../../core/test/importCost.js";

test("importing the preset reads core and the three packs, one file each, and nothing heavy", () => {
  expectLightImport("preset-default/dist/index.js", [
    "core/dist/index.js",
    "core/dist/toolkit.js",
    "preset-default/dist/index.js",
    "tools-bash/dist/index.js",
    "tools-fs/dist/index.js",
    "tools-search/dist/index.js",
  ]);
});
