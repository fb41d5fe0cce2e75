import { expectPackagesRead } from "@agent/test-support";
import { test } from "vitest";

test("importing the pack reads itself and core", () => {
  expectPackagesRead("tools-bash/dist/index.js", ["core", "tools-bash"]);
});
