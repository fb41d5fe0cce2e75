import { escapeInvisible } from "@agent/core/toolkit";
import { type OutputLook, SgrState } from "../text/sgr.js";
import { graphemes, textWidth } from "../text/width.js";

const TAB_STOP = 8;
// The maximum width of a line that `\r` can overwrite, wider than any progress bar.
const WIDEST_LINE = 4096;
const RESET = "\x1b[0m";

// A terminal sequence, complete or cut off at the end of the text. OSC, DCS, SOS, PM and APC end with BEL or ST.
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /(?:\x1b\[|\x9b)([0-?]*)([ -/]*)([@-~]|$)|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\x1b|$)|\x1b[ -/]*[0-~]?|[\r\n\b\t]|[\x00\x07\x0b-\x1a\x1c-\x1f]/g;

interface Cell {
  /** The character; "" is the right half of a wide one. */
  readonly text: string;
  readonly look: string;
}

/**
 * Command output as lines that are safe to display: colours are kept, `\r`, backspace and the cursor movements of
 * progress bars take effect, and every other sequence (titles, clear-screen, modes, queries) is dropped. Stray control
 * and invisible characters are escaped. Movements never leave the given text.
 */
export function renderOutput(text: string, look: OutputLook): string[] {
  const screen = new OutputScreen(look);
  let start = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    if (match.index > start) screen.print(text.slice(start, match.index));
    start = match.index + match[0].length;
    screen.control(match[0], match[1] ?? "", match[3] ?? "");
  }
  if (start < text.length) screen.print(text.slice(start));
  return screen.lines();
}

/** Lines with a cursor, growing downwards: the screen a command writes to. */
class OutputScreen {
  readonly #sgr: SgrState;
  readonly #lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(look: OutputLook) {
    this.#sgr = new SgrState(look);
  }

  print(text: string): void {
    const look = this.#sgr.code;
    const line = this.#line();
    for (const grapheme of graphemes(escapeInvisible(text))) {
      const width = Math.max(1, textWidth(grapheme));
      if (this.#column >= WIDEST_LINE) this.#column = line.length;
      while (line.length < this.#column) line.push({ text: " ", look: "" });
      this.#breakWide(line, this.#column);
      this.#breakWide(line, this.#column + width);
      line[this.#column] = { text: grapheme, look };
      if (width > 1) line[this.#column + 1] = { text: "", look };
      this.#column += width;
    }
  }

  control(sequence: string, parameters: string, final: string): void {
    switch (sequence) {
      case "\n":
        this.#row += 1;
        this.#column = 0;
        this.#line();
        return;
      case "\r":
        this.#column = 0;
        return;
      case "\b":
        this.#column = Math.max(0, this.#column - 1);
        return;
      case "\t": {
        const spaces = TAB_STOP - (this.#column % TAB_STOP);
        // At the end a tab is spaces; inside a line it only moves the cursor.
        if (this.#column >= this.#line().length) this.print(" ".repeat(spaces));
        else this.#column += spaces;
        return;
      }
    }
    if (final !== "") this.#csi(parameters, final);
  }

  lines(): string[] {
    return this.#lines.map(joinCells);
  }

  #csi(parameters: string, final: string): void {
    const count = Math.min(Math.max(1, Number.parseInt(parameters, 10) || 1), WIDEST_LINE);
    switch (final) {
      case "m":
        if (!/^[<=>?]/.test(parameters)) this.#sgr.apply(parameters);
        return;
      case "A":
      case "F":
        this.#row = Math.max(0, this.#row - count);
        if (final === "F") this.#column = 0;
        return;
      case "B":
      case "E":
        this.#row = Math.min(this.#lines.length - 1, this.#row + count);
        if (final === "E") this.#column = 0;
        return;
      case "C":
        this.#column = Math.min(WIDEST_LINE, this.#column + count);
        return;
      case "D":
        this.#column = Math.max(0, this.#column - count);
        return;
      case "G":
        this.#column = count - 1;
        return;
      case "K":
        this.#eraseLine(parameters);
        return;
      case "J":
        // Progress displays of several lines clear what is below the cursor; clearing the screen is ignored.
        if (parameters === "" || parameters === "0") {
          this.#eraseLine("0");
          this.#lines.length = this.#row + 1;
        }
    }
  }

  #eraseLine(parameters: string): void {
    const line = this.#line();
    if (parameters === "2") line.length = 0;
    else if (parameters === "1") {
      for (let at = 0; at <= this.#column && at < line.length; at++) line[at] = { text: " ", look: "" };
    } else if (line.length > this.#column) {
      this.#breakWide(line, this.#column);
      line.length = this.#column;
    }
  }

  /** Replaces both halves of a wide character with blanks if one of them is overwritten. */
  #breakWide(line: Cell[], at: number): void {
    if (line[at]?.text !== "" || at === 0) return;
    line[at - 1] = { text: " ", look: "" };
    line[at] = { text: " ", look: "" };
  }

  #line(): Cell[] {
    while (this.#lines.length <= this.#row) this.#lines.push([]);
    return this.#lines[this.#row] as Cell[];
  }
}

function joinCells(cells: readonly Cell[]): string {
  let text = "";
  let current = "";
  for (const cell of cells) {
    if (cell.look !== current) {
      text += (current === "" ? "" : RESET) + cell.look;
      current = cell.look;
    }
    text += cell.text;
  }
  return current === "" ? text.trimEnd() : text + RESET;
}
