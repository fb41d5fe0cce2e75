import type { OutputLook } from "./sgr.js";

type Paint = (text: string) => string;

/** Styles text on a terminal. Every function returns its text unchanged if the style is not available. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly inverse: Paint;
  readonly strike: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
  /** How much of a command's own styling is kept with this style. */
  readonly output: OutputLook;
}

const plain: Paint = (text) => text;

function paint(open: number, close: number): Paint {
  return (text) => (text === "" ? "" : `\x1b[${open}m${text}\x1b[${close}m`);
}

const NO_COLORS = { red: plain, green: plain, yellow: plain, blue: plain, magenta: plain, cyan: plain };

/** No styling, for a pipe, a log or a terminal without escape codes. */
export const PLAIN_STYLE: Style = {
  ...NO_COLORS,
  bold: plain,
  dim: plain,
  italic: plain,
  underline: plain,
  inverse: plain,
  strike: plain,
  output: "plain",
};

/** For `NO_COLOR`: everything but colour. */
export const MONOCHROME_STYLE: Style = {
  ...NO_COLORS,
  bold: paint(1, 22),
  dim: paint(2, 22),
  italic: paint(3, 23),
  underline: paint(4, 24),
  inverse: paint(7, 27),
  strike: paint(9, 29),
  output: "monochrome",
};

export const COLOR_STYLE: Style = {
  ...MONOCHROME_STYLE,
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  blue: paint(34, 39),
  magenta: paint(35, 39),
  cyan: paint(36, 39),
  output: "colour",
};
