import { expect, test } from "vitest";

test("exports the public API of @agent/durable", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual([
    "OVERLAPS",
    "RUN_STATES",
    "StoppedError",
    "createFileEngine",
    "defineRun",
    "forkRun",
    "isEnded",
    "isStopped",
    "nextTime",
    "scheduleRun",
    "startRun",
    "startWorker",
    "stepsOf",
  ]);
  expect(Object.keys(await import("./testing/index.js"))).toEqual(["engineConformance"]);
});
