/** The look of one character: the attributes that a command may set. */
interface Look {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly strike: boolean;
  /** The parameters of the colour code: `31`, `38;5;208`, or "" for the terminal's default. */
  readonly foreground: string;
  readonly background: string;
}

const PLAIN: Look = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
  foreground: "",
  background: "",
};

// Blinking (5, 6) and concealed text (8) are excluded: a user must be able to read the text.
const SWITCHES: Readonly<Record<number, Partial<Look>>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { foreground: "" },
  49: { background: "" },
};

const MOST_PARAMETERS = 32;

/** How much of a command's own styling is shown. */
export type OutputLook = "colour" | "monochrome" | "plain";

/** Applies the style codes of a command's output and returns one code for the resulting style. */
export class SgrState {
  #look = PLAIN;
  readonly #shown: OutputLook;

  constructor(shown: OutputLook) {
    this.#shown = shown;
  }

  /** Applies the parameters of one `ESC [ … m`; unknown parameters change nothing. */
  apply(parameters: string): void {
    const numbers = parameters.split(/[;:]/).slice(0, MOST_PARAMETERS).map(Number);
    for (let at = 0; at < numbers.length; at++) {
      const code = numbers[at] ?? 0;
      if (code === 38 || code === 48) {
        const { color, used } = extendedColor(numbers.slice(at));
        at += used;
        if (color !== "") this.#set(code === 38 ? { foreground: color } : { background: color });
      } else if (code === 0) this.#look = PLAIN;
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) this.#set({ foreground: `${code}` });
      else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) {
        this.#set({ background: `${code}` });
      } else this.#set(SWITCHES[code] ?? {});
    }
  }

  /** The code that sets a reset terminal to this style, or "". */
  get code(): string {
    if (this.#shown === "plain" || this.#look === PLAIN) return "";
    const { bold, dim, italic, underline, inverse, strike } = this.#look;
    const parts = [bold && "1", dim && "2", italic && "3", underline && "4", inverse && "7", strike && "9"];
    const codes = [...parts, ...(this.#shown === "colour" ? this.#colors() : [])].filter(Boolean);
    return codes.length === 0 ? "" : `\x1b[${codes.join(";")}m`;
  }

  #set(change: Partial<Look>): void {
    this.#look = { ...this.#look, ...change };
  }

  /** The colours. Text in the colour of its background would be invisible, so both are dropped. */
  #colors(): string[] {
    const { foreground, background } = this.#look;
    const same = foreground !== "" && asForeground(background) === foreground;
    return same ? [] : [foreground, background];
  }
}

function asForeground(background: string): string {
  if (background.startsWith("48;")) return `38${background.slice(2)}`;
  return background === "" ? "" : `${Number(background) - 10}`;
}

/** `38;5;N` and `38;2;R;G;B`. `used` counts the numbers after the first. */
function extendedColor([kind, model, ...rest]: readonly number[]): { color: string; used: number } {
  const wanted = model === 5 ? 1 : model === 2 ? 3 : 0;
  const values = rest.slice(0, wanted);
  const isColor =
    wanted > 0 && values.length === wanted && values.every((value) => value >= 0 && value <= 255);
  return { color: isColor ? `${kind};${model};${values.join(";")}` : "", used: 1 + values.length };
}
