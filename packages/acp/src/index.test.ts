import { expect, test } from "vitest";

test("exports the public API of @agent/acp", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual(["serveAcp", "standardStream"]);
});
