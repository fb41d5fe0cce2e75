import { describe, expect, test } from "vitest";
import { findOnWindows, windowsProgram } from "./windowsProgram.js";

const ENV = {
  Path: 'bin;"C:\\Program Files\\nodejs";C:\\tools',
  PATHEXT: ".EXE;.CMD",
  SystemRoot: "C:\\Windows",
};
const FILES = new Set([
  "C:\\Program Files\\nodejs\\npx.cmd",
  "C:\\tools\\npx.exe",
  "C:\\tools\\rg.exe",
  "bin\\evil.exe",
  "evil.exe",
  "D:\\100%\\a.cmd",
]);
const isThere = (path: string): boolean =>
  [...FILES].some((file) => file.toLowerCase() === path.toLowerCase());
const start = (program: string, ...args: string[]) => windowsProgram(program, args, ENV, isThere);

describe("programs on Windows", () => {
  test("finds a program on the PATH, in its order, and never in the current directory", () => {
    expect(findOnWindows("npx", ENV, isThere)).toBe("C:\\Program Files\\nodejs\\npx.cmd");
    expect(start("rg", "a b")).toEqual({
      file: "C:\\tools\\rg.exe",
      args: ["a b"],
      options: { windowsHide: true },
    });
    expect(() => start("evil")).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });

  test.each([
    ["a", "a"],
    ["-y", "-y"],
    ["@scope/pkg@1", "@scope/pkg@1"],
    ["", '""'],
    ["a b", '"a b"'],
    ["a&calc", '"a&calc"'],
    ["a^b|c<d>e", '"a^b|c<d>e"'],
    ['"&calc', '"""&calc"'],
    ['\\"&calc&"', '"\\\\""&calc&"""'],
    ["end\\", '"end\\\\"'],
    ["%PATH%", '"%%cd:~,%PATH%%cd:~,%"'],
    ["!x!", '"!x!"'],
    ["é", '"é"'],
  ])("quotes %j for a batch file", (text, quoted) => {
    const { file, args, options } = start("npx", text);
    expect(file).toBe("C:\\Windows\\System32\\cmd.exe");
    expect(args.slice(0, 5)).toEqual(["/d", "/e:ON", "/v:OFF", "/s", "/c"]);
    expect(args[5]).toBe(`""C:\\Program Files\\nodejs\\npx.cmd" ${quoted}"`);
    expect(options.windowsVerbatimArguments).toBe(true);
  });

  test.each(["a\nb", "a\rb", "a\0b"])("refuses %j as an argument of a batch file", (text) => {
    expect(() => start("npx", text)).toThrow("cmd.exe cannot pass");
  });

  test("refuses a batch file whose path cmd.exe would expand", () => {
    expect(() => start("D:\\100%\\a")).toThrow("cannot be started safely");
  });
});
