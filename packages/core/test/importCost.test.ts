import { test } from "vitest";
import { expectLightImport } from "./importCost.js";

// Every pack and every program that starts pays for these before it does anything.
test.each(["index", "toolkit", "provider", "replay"])("importing %s reads no other package", (entry) => {
  expectLightImport(`core/dist/${entry}.js`, ["core"]);
});
