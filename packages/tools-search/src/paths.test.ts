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
  ])("are shown: %s as %s", (argument, shown) => {
    expect(shownPath(argument)).toBe(shown);
  });

  test("get forward slashes on Windows; elsewhere a backslash is part of a name", () => {
    expect(toSlashes("C:\\src\\a.ts", "win32")).toBe("C:/src/a.ts");
    expect(toSlashes("odd\\name", "linux")).toBe("odd\\name");
  });

  test("have a prefix before the names in a directory", () => {
    expect(shownPrefix(".")).toBe("");
    expect(shownPrefix("src")).toBe("src/");
    expect(shownPrefix("/")).toBe("/");
    expect(withSlash("C:/")).toBe("C:/");
  });
});
