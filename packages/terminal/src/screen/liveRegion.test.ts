import { describe, expect, test } from "vitest";
import { LiveRegion } from "./liveRegion.js";

function recorded(): { region: LiveRegion; taken: () => string } {
  let written: string[] = [];
  const region = new LiveRegion((text) => written.push(text));
  return {
    region,
    taken: () => {
      const text = written.join("<write>");
      written = [];
      return text;
    },
  };
}

describe("LiveRegion", () => {
  test("draws a frame in one write", () => {
    const { region, taken } = recorded();
    region.draw({ above: ["one", "two"], rows: ["a", "b"], cursor: { row: 1, column: 1 } });
    const text = taken();
    expect(text).not.toContain("<write>");
    for (const row of ["one", "two", "a", "b"]) expect(text).toContain(row);
  });

  test("rewrites only rows that changed", () => {
    const { region, taken } = recorded();
    region.draw({ above: [], rows: ["first", "second", "third"] });
    taken();
    region.draw({ above: [], rows: ["first", "SECOND", "third"] });
    const text = taken();
    expect(text).toContain("SECOND");
    expect(text).not.toContain("first");
    expect(text).not.toContain("third");
  });

  test("writes nothing for an unchanged frame", () => {
    const { region, taken } = recorded();
    const frame = { above: [], rows: ["a"], cursor: { row: 0, column: 1 } };
    region.draw(frame);
    taken();
    region.draw(frame);
    expect(taken()).toBe("");
  });

  test("erases after a resize all rows that wide characters were broken into", () => {
    const { region, taken } = recorded();
    // 9 columns break "日本語文字" after four characters, and 5 columns after two: the fifth column stays empty.
    region.draw({ above: [], rows: ["status", "日本語文字"], cursor: { row: 1, column: 10 } });
    taken();
    region.resized(5);
    // Three rows of wide characters and two of the status row: the cursor is four rows below the first.
    expect(taken()).toContain("\x1b[4A\r");
  });
});
