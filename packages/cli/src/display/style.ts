type Paint = (text: string) => string;

/** How text is marked up on a terminal. Every function returns its text unchanged where there is no colour. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const plain: Paint = (text) => text;

function paint(open: number, close: number): Paint {
  return (text) => (text === "" ? "" : `\x1b[${open}m${text}\x1b[${close}m`);
}

export const PLAIN_STYLE: Style = {
  bold: plain,
  dim: plain,
  italic: plain,
  underline: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
};

export const COLOR_STYLE: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  italic: paint(3, 23),
  underline: paint(4, 24),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};
