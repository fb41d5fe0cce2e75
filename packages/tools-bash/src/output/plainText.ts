const NEWLINE = 0x0a;
const CONTROLS = [0x1b, 0x0d, 0x08];
/** The most of a line that is held back until its end is known. */
const MAX_LINE_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

// Control sequences (ESC [ … letter), strings that end with BEL or ESC \ (titles, links), and the short ones. A string
// that does not end on its line is kept as text: removing it could hide the rest of the output.
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what this finds
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])?/g;
const PIECES = new RegExp(`${SEQUENCE.source}|[^]`, "gu");

/**
 * Turns what a command prints for a terminal into plain text, chunk by chunk: escape codes are removed, and a line that is
 * written over with `\r` or backspaces becomes what a terminal shows at its end, so that a progress bar is one line.
 */
export class PlainText {
  readonly #emit: (bytes: Uint8Array) => void;
  /** The last line, which may still be written over. */
  #line: Buffer = NO_BYTES;

  /** `emit` gets pieces that it must copy if it keeps them. */
  constructor(emit: (bytes: Uint8Array) => void) {
    this.#emit = emit;
  }

  /** Takes a chunk, which may be used again by the caller afterwards. */
  write(chunk: Buffer): void {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      this.#pass(chunk.subarray(0, end));
      this.#line = Buffer.from(chunk.subarray(end));
    } else {
      this.#line = Buffer.concat([this.#line, chunk]);
    }
    if (this.#line.length > MAX_LINE_BYTES) this.#shortenLine();
  }

  end(): void {
    this.#pass(NO_BYTES);
  }

  /** Applies overwrites to a long line; emits it if it is still long afterwards. */
  #shortenLine(): void {
    if (hasControls(this.#line)) this.#line = Buffer.from(plain(this.#line.toString("utf8"), true));
    if (this.#line.length > MAX_LINE_BYTES) this.end();
  }

  /** Emits the line that was held back, and complete lines behind it. */
  #pass(lines: Buffer): void {
    const held = this.#line;
    this.#line = NO_BYTES;
    if (!hasControls(held) && !hasControls(lines)) {
      if (held.length > 0) this.#emit(held);
      if (lines.length > 0) this.#emit(lines);
      return;
    }
    this.#emit(Buffer.from(plain(Buffer.concat([held, lines]).toString("utf8"))));
  }
}

function hasControls(bytes: Buffer): boolean {
  return CONTROLS.some((control) => bytes.includes(control));
}

/** The text as a terminal would leave it. `goesOn`: the last line will be written over from where the cursor is. */
function plain(text: string, goesOn = false): string {
  const lines = text.split("\n");
  return lines
    .map((line) => (isOverwritten(line) ? overwrite(line, goesOn) : line.replace(SEQUENCE, "")))
    .join("\n");
}

/** Whether the cursor goes back in the line. A "\r" at its end is the first half of a Windows line ending. */
function isOverwritten(line: string): boolean {
  const carriageReturn = line.indexOf("\r");
  return line.includes("\b") || (carriageReturn !== -1 && carriageReturn < line.length - 1);
}

function overwrite(line: string, goesOn: boolean): string {
  const cells: string[] = [];
  let cursor = 0;
  for (const [piece, parameters, final] of line.matchAll(PIECES)) {
    if (piece === "\r") cursor = 0;
    else if (piece === "\b") cursor = Math.max(0, cursor - 1);
    else if (final === "K") erase(cells, cursor, parameters);
    else if (!piece.startsWith("\x1b")) {
      while (cells.length < cursor) cells.push(" ");
      cells[cursor++] = piece;
    }
  }
  return cells.join("").replace(/ +$/, "") + (goesOn && cursor === 0 ? "\r" : "");
}

/** "Erase in line": from the cursor on, up to the cursor (1), or all of it (2). */
function erase(cells: string[], cursor: number, parameters: string | undefined): void {
  if (parameters === "2") cells.length = 0;
  else if (parameters === "1") cells.fill(" ", 0, cursor + 1);
  else cells.length = Math.min(cells.length, cursor);
}
