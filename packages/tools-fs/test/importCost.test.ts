import { test } from "vitest";
import { expectLightImport } from "../../core/test/importCost.js";

test("importing the pack reads its own file and the toolkit, and nothing heavy", () => {
  expectLightImport("tools-fs/dist/index.js", ["core/dist/toolkit.js", "tools-fs/dist/index.js"]);
});
