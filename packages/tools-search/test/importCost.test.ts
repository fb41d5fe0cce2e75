import { expectPackagesRead } from "@agent/test-support";
import { test } from "vitest";

test("importing the pack reads itself and core", () => {
  expectPackagesRead("tools-search/dist/index.js", ["core", "tools-search"]);
});
