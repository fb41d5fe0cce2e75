import { readFileSync } from "node:fs";
import { expectPackagesRead } from "@agent/test-support";
import { expect, test } from "vitest";

// Every pack and every program that starts pays for these before it does anything.
test.each(["index", "toolkit", "provider", "replay"])("importing %s reads no other package", (entry) => {
  expectPackagesRead(`core/dist/${entry}.js`, ["core"]);
});

test.each(["host", "index", "otel", "provider", "replay", "toolkit"])(
  "types of %s name no package that is not published",
  (entry) => {
    const types = readFileSync(new URL(`../dist/${entry}.d.ts`, import.meta.url), "utf8");
    expect(types).not.toContain("@agent/internal");
  },
);
