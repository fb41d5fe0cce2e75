import { test } from "vitest";
import { expectLightImport } from "../../core/test/importCost.js";

test("importing the pack reads itself and core", () => {
  expectLightImport("tools-bash/dist/index.js", ["core", "tools-bash"]);
});
