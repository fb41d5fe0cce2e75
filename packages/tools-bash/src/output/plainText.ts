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

/**
 * Numbers each change of the line, and decides at the end which columns an erasure cleared after they were written: to clear
 * them at once would take the length of the line for each erasure.
 */
function overwrite(line: string, goesOn: boolean): string {
  const cells: { text: string; writtenAt: number }[] = [];
  /** By column, when everything from it on, and everything up to it, was erased last. */
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
