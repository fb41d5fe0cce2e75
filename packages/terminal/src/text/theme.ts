import type { Style } from "./style.js";

/** The colour theme of the chat. `auto` follows the background of the terminal. */
export type Theme = "auto" | "dark" | "light" | "high-contrast" | "colour-blind";

type Colors = Pick<Style, "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "dim">;

const FOREGROUND = 39;

/** One of the 256 colours, which unlike the first 16 look the same in every terminal. */
function color(number: number): Style["red"] {
  return (text) => (text === "" ? "" : `\x1b[38;5;${number}m${text}\x1b[${FOREGROUND}m`);
}

function code(number: number): Style["red"] {
  return (text) => (text === "" ? "" : `\x1b[${number}m${text}\x1b[${FOREGROUND}m`);
}

/** The terminal's own colours, which most people have chosen for a dark background. */
const DARK: Partial<Colors> = {};

// Dark enough to be readable on white: a contrast of at least 4.5 to 1.
const LIGHT: Colors = {
  red: color(124),
  green: color(22),
  yellow: color(94),
  blue: color(25),
  magenta: color(90),
  cyan: color(23),
  dim: color(242),
};

// A contrast of at least 7 to 1, and nothing is dimmed.
const CONTRAST_DARK: Colors = {
  red: color(217),
  green: color(120),
  yellow: color(227),
  blue: color(153),
  magenta: color(219),
  cyan: color(123),
  dim: code(FOREGROUND),
};
const CONTRAST_LIGHT: Colors = {
  red: color(88),
  green: color(22),
  yellow: color(52),
  blue: color(18),
  magenta: color(53),
  cyan: color(17),
  dim: code(FOREGROUND),
};

// Blue and orange instead of green and red: they differ for all common kinds of colour blindness.
const BLIND_DARK: Partial<Colors> = { red: color(214), green: color(75), yellow: color(229) };
const BLIND_LIGHT: Colors = { ...LIGHT, red: color(130), green: color(25), yellow: color(53) };

/**
 * Applies a theme to a style, in place: everything drawn from now on uses it. A style without colour, or on a terminal
 * with few colours, is unchanged.
 */
export function applyTheme(style: Style, theme: Theme, isLight: boolean, colorDepth: number): void {
  if (style.output !== "colour" || colorDepth < 8) return;
  Object.assign(style, colorsOf(theme, isLight));
}

function colorsOf(theme: Theme, isLight: boolean): Partial<Colors> {
  switch (theme) {
    case "auto":
      return isLight ? LIGHT : DARK;
    case "dark":
      return DARK;
    case "light":
      return LIGHT;
    case "high-contrast":
      return isLight ? CONTRAST_LIGHT : CONTRAST_DARK;
    case "colour-blind":
      return isLight ? BLIND_LIGHT : BLIND_DARK;
  }
}

/** Asks the terminal for its background colour. */
export const ASK_BACKGROUND = "\x1b]11;?\x1b\\";

/** Whether a terminal is known to answer, or at least to ignore the query. Others would display it. */
export function canAskBackground({ TERM = "", TMUX, STY }: NodeJS.ProcessEnv): boolean {
  // tmux calls itself "screen" in places.
  if (TMUX !== undefined) return true;
  return STY === undefined && /xterm|tmux|alacritty|foot|kitty|ghostty|wezterm|rxvt|contour|rio/.test(TERM);
}

/** Whether the terminal's answer means a light background; `undefined` for anything else. */
export function isLightReport(report: string): boolean | undefined {
  const [, red, green, blue] =
    /^11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(report) ?? [];
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const [r, g, b] = [red, green, blue].map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1)) as [
    number,
    number,
    number,
  ];
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.5;
}

/** The background from `COLORFGBG`, which some terminals set: `0;15` is black on white. */
export function isLightVariable(value: string | undefined): boolean | undefined {
  const background = /;(\d{1,2})$/.exec(value ?? "")?.[1];
  if (background === undefined) return undefined;
  return Number(background) === 7 || Number(background) > 8;
}
