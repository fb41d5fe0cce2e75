const NEWLINE = 0x0a;
const CONTROLS = [0x1b, 0x0d, 0x08];
/** The maximum length of a line that is held back until its end is known. */
const MAX_LINE_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

// Control sequences (ESC [ … letter), strings that end with BEL or ESC \ (titles, links), and the short ones. A string
// that does not end on its line is kept as text: removing it could hide the rest of the output.
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what this finds
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])?/g;
const PIECES = new RegExp(`${SEQUENCE.source}|[^]`, "gu");

/**
 * Converts terminal output to plain text, chunk by chunk: escape codes are removed, and a line that is overwritten with
 * `\r` or backspaces becomes what a terminal would finally show, so that a progress bar is one line.
 */
export class PlainText {
  readonly #emit: (bytes: Uint8Array) => void;
  /** The last line, which may still be overwritten. */
  #line: Buffer = NO_BYTES;

  /** `emit` must copy the pieces if it keeps them. */
  constructor(emit: (bytes: Uint8Array) => void) {
    this.#emit = emit;
  }

  /** Adds a chunk, which the caller may reuse afterwards. */
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

  /** Emits the line that was held back, and complete lines after it. */
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

/** The text as a terminal would finally show it. `goesOn`: the last line continues at the cursor position. */
function plain(text: string, goesOn = false): string {
  const lines = text.split("\n");
  return lines
    .map((line) => (isOverwritten(line) ? overwrite(line, goesOn) : line.replace(SEQUENCE, "")))
    .join("\n");
}

/** Whether the cursor moves back within the line. A "\r" at its end is the first half of a Windows line ending. */
function isOverwritten(line: string): boolean {
  const carriageReturn = line.indexOf("\r");
  return line.includes("\b") || (carriageReturn !== -1 && carriageReturn < line.length - 1);
}

/**
 * Numbers each change of the line, and decides at the end which columns were erased after they were written: erasing
 * immediately would cost the length of the line each time.
 */
function overwrite(line: string, goesOn: boolean): string {
  const cells: { text: string; writtenAt: number }[] = [];
  /** By column, the number of the last erasure of everything from it on, and of everything up to it. */
  const erased = { from: [] as number[], upTo: [] as number[] };
  let cursor = 0;
  let now = 0;
  for (const [piece, parameters, final] of line.matchAll(PIECES)) {
    now += 1;
    if (piece === "\r") cursor = 0;
    else if (piece === "\b") cursor = Math.max(0, cursor - 1);
    else if (final === "K" && parameters === "1") erased.upTo[cursor] = now;
    else if (final === "K") erased.from[parameters === "2" ? 0 : cursor] = now;
    else if (!piece.startsWith("\x1b")) cells[cursor++] = { text: piece, writtenAt: now };
  }
  const clearedUpTo = latestFromEnd(erased.upTo, cells.length);
  let clearedFrom = 0;
  let length = 0;
  const shown = cells.map(({ text, writtenAt }, column) => {
    clearedFrom = Math.max(clearedFrom, erased.from[column] ?? 0);
    const isCleared = writtenAt < clearedFrom || writtenAt < (clearedUpTo[column] ?? 0);
    if (!isCleared && text !== " ") length = column + 1;
    return isCleared ? " " : text;
  });
  return shown.slice(0, length).join("") + (goesOn && cursor === 0 ? "\r" : "");
}

/** For each column, the greatest number in it or in a later one. */
function latestFromEnd(times: readonly number[], columns: number): number[] {
  const latest: number[] = [];
  let greatest = times[columns] ?? 0;
  for (let column = columns - 1; column >= 0; column--) {
    greatest = Math.max(greatest, times[column] ?? 0);
    latest[column] = greatest;
  }
  return latest;
}
