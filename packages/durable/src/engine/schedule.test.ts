import { describe, expect, test } from "vitest";
import { nextTime } from "./schedule.js";

/** The next times of a schedule. */
function times(cron: string, timeZone: string, after: string, count: number): string[] {
  const found: number[] = [];
  while (found.length < count) found.push(nextTime({ cron, timeZone }, found.at(-1) ?? Date.parse(after)));
  return found.map((time) => new Date(time).toISOString().replace(":00.000Z", "Z"));
}

describe("the times of a schedule", () => {
  test("keep the time of day of their zone when the clocks change", () => {
    expect(times("0 9 * * *", "Europe/Berlin", "2031-03-28T12:00:00Z", 3)).toEqual([
      "2031-03-29T08:00Z",
      "2031-03-30T07:00Z",
      "2031-03-31T07:00Z",
    ]);
    expect(times("0 9 * * *", "America/New_York", "2031-11-01T12:00:00Z", 3)).toEqual([
      "2031-11-01T13:00Z",
      "2031-11-02T14:00Z",
      "2031-11-03T14:00Z",
    ]);
  });

  test("come once on the day without that time of day, and once on the day that has it twice", () => {
    // From 02:00 to 03:00 there is no half past two, so it comes at three.
    expect(times("30 2 * * *", "Europe/Berlin", "2031-03-29T12:00:00Z", 2)).toEqual([
      "2031-03-30T01:00Z",
      "2031-03-31T00:30Z",
    ]);
    expect(times("30 2 * * *", "Europe/Berlin", "2031-10-25T12:00:00Z", 2)).toEqual([
      "2031-10-26T00:30Z",
      "2031-10-27T01:30Z",
    ]);
  });

  test("come at each of their intervals while the clocks change, also in the hour that is there twice", () => {
    expect(times("*/30 * * * *", "Europe/Berlin", "2031-03-30T00:10:00Z", 4)).toEqual([
      "2031-03-30T00:30Z",
      "2031-03-30T01:00Z",
      "2031-03-30T01:30Z",
      "2031-03-30T02:00Z",
    ]);
    expect(times("*/30 * * * *", "Europe/Berlin", "2031-10-26T00:10:00Z", 4)).toEqual([
      "2031-10-26T00:30Z",
      "2031-10-26T01:00Z",
      "2031-10-26T01:30Z",
      "2031-10-26T02:00Z",
    ]);
  });

  test("are refused if they never come", () => {
    expect(() => nextTime({ cron: "0 0 31 2 *" }, 0)).toThrow(/"0 0 31 2 \*" is never due/);
  });
});
