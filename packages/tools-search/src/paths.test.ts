import { describe, expect, test } from "vitest";
import { shownPath, shownPrefix, toSlashes, withSlash } from "./paths.js";

describe("paths", () => {
  test.each([
    [".", "."],
    ["./", "."],
    ["./src/", "src"],
    ["src//lib/../x", "src/x"],
    ["/", "/"],
    ["/tmp/", "/tmp"],
    ["..", ".."],
  ])("%s is shown as %s", (argument, shown) => {
    expect(shownPath(argument)).toBe(shown);
  });

  test("Windows paths get forward slashes; elsewhere a backslash is part of a name", () => {
    expect(toSlashes("C:\\src\\a.ts", "win32")).toBe("C:/src/a.ts");
    expect(toSlashes("odd\\name", "linux")).toBe("odd\\name");
  });

  test("what comes before the names in a directory", () => {
    expect(shownPrefix(".")).toBe("");
    expect(shownPrefix("src")).toBe("src/");
    expect(shownPrefix("/")).toBe("/");
    expect(withSlash("C:/")).toBe("C:/");
  });
});
