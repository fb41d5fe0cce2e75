import { byteKinds, WORD } from "./characterSet.js";
import { type DfaState, type Outcome, SubsetConstruction } from "./dfaState.js";
import { buildNfa } from "./nfa.js";
import type { RegexTree } from "./tree.js";

/** The table must fit into the memory that is reserved for it. */
const MAX_TABLE_BYTES = 60 * 1024;
/** The limit of the work to build it: a more complex expression is left to JavaScript's RegExp. */
const MAX_ROWS = 1000;
const MAX_WORK = 500_000;
const MAX_NFA_STATES = 1000;
/** So that a column fits into a byte. */
const MAX_KINDS = 127;
const BYTES_PER_ENTRY = 2;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * An expression as a deterministic finite automaton that decides about lines by reading each byte once. Its states are
 * the rows of a table: a row has the next row for each class of bytes. The first three rows are outcomes, the fourth is
 * the start of a line. Rows are identified by their offset in the table, in bytes.
 */
export interface Dfa {
  /** The offset of each byte's column in a row. */
  readonly columnOf: Uint8Array;
  readonly table: Uint16Array;
  readonly rowBytes: number;
  readonly lineStart: number;
}

const OUTCOMES: readonly Outcome[] = ["dead", "matched", "unsure"];
const MATCHED = OUTCOMES.indexOf("matched");
const LINE_START = OUTCOMES.length;

export interface DfaOptions {
  readonly ignoreCase: boolean;
  /** Whether the carriage return before a line break is part of the line. */
  readonly keepReturn: boolean;
  /** Whether all text is known to be UTF-8. Then nearly every line can be decided. */
  readonly isUtf8: boolean;
}

/** Builds the DFA, or returns `undefined` if the expression needs too many states. */
export function buildDfa(tree: RegexTree, options: DfaOptions): Dfa | undefined {
  const nfa = buildNfa(tree, options.ignoreCase, MAX_NFA_STATES);
  if (nfa === undefined) return undefined;
  const states = new SubsetConstruction(nfa, options);
  const sets = states.hasWordAssertions ? [...nfa.sets, WORD] : nfa.sets;
  const { kindOf, examples } = byteKinds(sets, [NEWLINE, RETURN], (byte) => states.kindBeyond(byte));
  if (examples.length > MAX_KINDS) return undefined;
  const rowBytes = examples.length * BYTES_PER_ENTRY;
  const maxRows = Math.min(MAX_ROWS, Math.floor(MAX_TABLE_BYTES / rowBytes));
  const rows = rowsOf(states, examples, maxRows);
  if (rows === undefined) return undefined;
  if (!options.keepReturn) holdReturns(rows, kindOf[NEWLINE] ?? 0, kindOf[RETURN] ?? 0);
  if (rows.length > maxRows) return undefined;
  return {
    columnOf: kindOf.map((kind) => kind * BYTES_PER_ENTRY),
    table: Uint16Array.from(rows.flat(), (row) => row * rowBytes),
    rowBytes,
    lineStart: LINE_START * rowBytes,
  };
}

/** One row for each reachable state, with the numbers of the next rows. `examples` has a byte of each class. */
function rowsOf(
  states: SubsetConstruction,
  examples: readonly number[],
  maxRows: number,
): number[][] | undefined {
  const reached = [states.start];
  const numbers = new Map<string, number>();
  const keyOf = stateKeys();
  const numberOf = (state: DfaState | Outcome): number => {
    if (typeof state === "string") return OUTCOMES.indexOf(state);
    const key = `${keyOf(state.states)} ${state.afterWord} ${state.begun}`;
    const number = numbers.get(key) ?? LINE_START + reached.length;
    if (!numbers.has(key)) reached.push(state);
    numbers.set(key, number);
    return number;
  };
  const rows = OUTCOMES.map((_, outcome) => examples.map(() => outcome));
  for (const state of reached) {
    const atEnd = states.matchesAtEnd(state) ? MATCHED : LINE_START;
    rows.push(examples.map((byte) => (byte === NEWLINE ? atEnd : numberOf(states.read(state, byte)))));
    if (states.work > MAX_WORK || rows.length > maxRows) return undefined;
  }
  return rows;
}

/** A number for each list of states. Many states share a list, and writing out a long one is slow. */
function stateKeys(): (states: readonly number[]) => number {
  const byContent = new Map<string, number>();
  const known = new WeakMap<readonly number[], number>();
  return (states) => {
    const before = known.get(states);
    if (before !== undefined) return before;
    const content = states.join();
    const key = byContent.get(content) ?? byContent.size;
    byContent.set(content, key);
    known.set(states, key);
    return key;
  };
}

/**
 * Changes the table so that a carriage return right before a line ending is not part of the line. A carriage return
 * leads to a copy of its target row in which a line ending has the effect it would have had before the carriage return.
 */
function holdReturns(rows: number[][], newline: number, carriageReturn: number): void {
  const held: { readonly after: number; readonly atEnd: number }[] = [];
  const plain = rows.length;
  for (const row of rows.slice(LINE_START)) {
    const after = row[carriageReturn] ?? 0;
    const atEnd = row[newline] ?? 0;
    // Most expressions do not need this: they end the same way with the carriage return.
    if (endOf(rows, after, newline) === atEnd) continue;
    row[carriageReturn] = plain + held.length;
    held.push({ after, atEnd });
  }
  for (const { after, atEnd } of held) rows.push((rows[after] ?? []).with(newline, atEnd));
}

/** The state that a line break right after this row leads to. */
function endOf(rows: readonly (readonly number[])[], row: number, newline: number): number {
  if (row >= LINE_START) return rows[row]?.[newline] ?? 0;
  return row === MATCHED ? MATCHED : LINE_START;
}
