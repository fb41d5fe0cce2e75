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
  test("a frame is one write", () => {
    const { region, taken } = recorded();
    region.draw({ above: ["one", "two"], rows: ["a", "b"], cursor: { row: 1, column: 1 } });
    const text = taken();
    expect(text).not.toContain("<write>");
    for (const row of ["one", "two", "a", "b"]) expect(text).toContain(row);
  });

  test("only rows that changed are written again", () => {
    const { region, taken } = recorded();
    region.draw({ above: [], rows: ["first", "second", "third"] });
    taken();
    region.draw({ above: [], rows: ["first", "SECOND", "third"] });
    const text = taken();
    expect(text).toContain("SECOND");
    expect(text).not.toContain("first");
    expect(text).not.toContain("third");
  });

  test("an unchanged frame writes nothing", () => {
    const { region, taken } = recorded();
    const frame = { above: [], rows: ["a"], cursor: { row: 0, column: 1 } };
    region.draw(frame);
    taken();
    region.draw(frame);
    expect(taken()).toBe("");
  });
});
