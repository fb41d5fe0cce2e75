import { expect, test } from "vitest";
import { COLOR_STYLE, MONOCHROME_STYLE, type Style } from "./style.js";
import { applyTheme, canAskBackground, isLightReport, isLightVariable, type Theme } from "./theme.js";

function themed(theme: Theme, isLight: boolean, depth = 8, base: Style = COLOR_STYLE): Style {
  const style = { ...base };
  applyTheme(style, theme, isLight, depth);
  return style;
}

test("keeps the terminal's own colours on a dark background, and where there are few colours", () => {
  expect(themed("auto", false)).toEqual(COLOR_STYLE);
  expect(themed("auto", true, 4)).toEqual(COLOR_STYLE);
  expect(themed("light", true, 8, MONOCHROME_STYLE)).toEqual(MONOCHROME_STYLE);
});

test("has other colours for a light background, high contrast and colour blindness", () => {
  expect(themed("auto", true).yellow("x")).toBe("\x1b[38;5;94mx\x1b[39m");
  expect(themed("light", false).yellow("x")).toBe(themed("auto", true).yellow("x"));
  expect(themed("high-contrast", false).dim("x")).toBe("\x1b[39mx\x1b[39m");
  for (const isLight of [true, false]) {
    const { red, green } = themed("colour-blind", isLight);
    expect([red("x"), green("x")]).not.toContain(COLOR_STYLE.red("x"));
    expect(red("x")).not.toBe(green("x"));
  }
  expect(themed("light", true).red("")).toBe("");
});

/** The contrast of two colours as WCAG defines it. */
function contrast(color: number, background: number): number {
  const rgb = color >= 232 ? Array(3).fill(8 + (color - 232) * 10) : cube(color - 16);
  const luminance = (values: readonly number[]): number => {
    const [r = 0, g = 0, b = 0] = values.map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [a, b] = [luminance(rgb), background];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function cube(index: number): number[] {
  const levels = [0, 95, 135, 175, 215, 255];
  return [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((at) => levels[at] ?? 0);
}

test.each([
  ["light", true, 4.5],
  ["colour-blind", true, 4.5],
  ["colour-blind", false, 4.5],
  ["high-contrast", true, 7],
  ["high-contrast", false, 7],
] as const)("%s can be read (light background: %s)", (theme, isLight, least) => {
  const style = themed(theme, isLight);
  for (const name of ["red", "green", "yellow", "blue", "magenta", "cyan", "dim"] as const) {
    const color = /38;5;(\d+)m/.exec(style[name]("x"))?.[1];
    if (color !== undefined)
      expect([name, contrast(Number(color), isLight ? 1 : 0) >= least]).toEqual([name, true]);
  }
});

test.each([
  ["11;rgb:ffff/ffff/ffff", true],
  ["11;rgb:1e1e/1e1e/1e1e", false],
  ["11;rgb:f/f/f", true],
  ["11;rgba:00/00/00/ff", false],
  ["10;rgb:ffff/ffff/ffff", undefined],
  ["11;?", undefined],
])("reads the terminal's answer %s", (report, isLight) => {
  expect(isLightReport(report)).toBe(isLight);
});

test.each([
  ["0;15", true],
  ["15;0", false],
  ["0;default;15", true],
  ["12;8", false],
  ["", undefined],
  [undefined, undefined],
])("reads COLORFGBG=%s", (value, isLight) => {
  expect(isLightVariable(value)).toBe(isLight);
});

test("asks only terminals that would not show the question", () => {
  expect(canAskBackground({ TERM: "xterm-256color" })).toBe(true);
  expect(canAskBackground({ TERM: "screen", TMUX: "/tmp/x" })).toBe(true);
  expect(canAskBackground({ TERM: "linux" })).toBe(false);
  expect(canAskBackground({ TERM: "xterm-256color", STY: "1" })).toBe(false);
});
