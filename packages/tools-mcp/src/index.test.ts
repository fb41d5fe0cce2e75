import { expect, test } from "vitest";

test("exports the public API of @agent/tools-mcp", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "followsDirectory",
    "packApiVersion",
    "packName",
    "register",
  ]);
});
