import { readFileSync } from "node:fs";
import { expectPackagesRead } from "@agent/test-support";
import { expect, test } from "vitest";

// Every pack and every program that starts pays for these before it does anything.
test.each(["index", "toolkit", "provider", "replay"])("reads no other package on import of %s", (entry) => {
  expectPackagesRead(`core/dist/${entry}.js`, ["core"]);
});

test.each(["host", "index", "otel", "provider", "replay", "toolkit"])(
  "names no unpublished package in the types of %s",
  (entry) => {
    const types = readFileSync(new URL(`../dist/${entry}.d.ts`, import.meta.url), "utf8");
    expect(types).not.toContain("@agent/internal");
  },
);
