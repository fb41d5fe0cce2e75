import { expect, test } from "vitest";

test("exports the public API of @agent/testing", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "checkPack",
    "checkProvider",
    "describePack",
    "describeProvider",
    "formatReport",
    "inspectPack",
    "recordProvider",
    "replayProvider",
    "scriptedProvider",
    "temporaryWorkspace",
  ]);
});
