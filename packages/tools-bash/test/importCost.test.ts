import { expectPackagesRead } from "@agent/test-support";
import { test } from "vitest";

test("reads only itself and core when the pack is imported", () => {
  expectPackagesRead("tools-bash/dist/index.js", ["core", "tools-bash"]);
});
