import { expect, test } from "vitest";

test("the public API of @agent/durable", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "RUN_STATES",
    "StoppedError",
    "createFileEngine",
    "defineRun",
    "isEnded",
    "isStopped",
    "startRun",
    "startWorker",
  ]);
  expect(Object.keys(await import("./testing/index.js"))).toEqual(["engineConformance"]);
});
