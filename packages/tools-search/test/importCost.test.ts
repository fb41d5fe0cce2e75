import { test } from "vitest";
import { expectLightImport } from "../../core/test/importCost.js";

test("importing the pack reads its own file and the toolkit, and nothing heavy", () => {
  expectLightImport("tools-search/dist/index.js", ["core/dist/toolkit.js", "tools-search/dist/index.js"]);
});
