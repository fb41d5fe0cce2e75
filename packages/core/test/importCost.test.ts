import { expectPackagesRead } from "@agent/test-support";
import { test } from "vitest";

// Every pack and every program that starts pays for these before it does anything.
test.each(["index", "toolkit", "provider", "replay"])("importing %s reads no other package", (entry) => {
  expectPackagesRead(`core/dist/${entry}.js`, ["core"]);
});
