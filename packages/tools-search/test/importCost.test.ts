import { readFileSync } from "node:fs";
import { test } from "vitest";
import { expectLightImport } from "../../core/test/importCost.js";

test("importing the pack reads the host's part of it and the toolkit, and nothing heavy", () => {
  const entry = readFileSync(new URL("../dist/index.js", import.meta.url), "utf8");
  const chunks = Array.from(
    entry.matchAll(/ '\.\/(chunk-\w+\.js)'/g),
    ([, chunk]) => `tools-search/dist/${chunk}`,
  );
  expectLightImport("tools-search/dist/index.js", [
    "core/dist/toolkit.js",
    "tools-search/dist/index.js",
    ...chunks,
  ]);
});
