import { ASCII_SIZE, type CharacterSet, WORD } from "./characterSet.js";
import { END, type Nfa } from "./nfa.js";
import { NfaSimulation, type StateSet } from "./simulation.js";

/** A state of the DFA: the progress of possible matches after some bytes of a line. */
export interface DfaState extends StateSet {
  /** The state of `CharacterWatch`. While a character is incomplete, no match is final. */
  readonly begun: number;
}

/** `dead`: the line does not match. `unsure`: it has non-ASCII characters, and the expression must decide. */
export type Outcome = "dead" | "matched" | "unsure";

/** In UTF-8 a non-ASCII character has a lead byte, from this value on, and continuation bytes, which are smaller. */
const FIRST_BYTES = 0xc0;

/** The subset construction: the states of a DFA over bytes, from an NFA over characters. */
export class SubsetConstruction {
  readonly start: DfaState;
  /** Whether word characters must be distinguished from others. */
  readonly hasWordAssertions: boolean;
  readonly #simulation: NfaSimulation;
  readonly #isUnsureBeyond: boolean;
  readonly #watch: CharacterWatch | undefined;

  constructor(nfa: Nfa, { ignoreCase, isUtf8 }: { readonly ignoreCase: boolean; readonly isUtf8: boolean }) {
    this.#simulation = new NfaSimulation(nfa);
    const { assertions, hasWordAssertions, start } = this.#simulation;
    this.hasWordAssertions = hasWordAssertions;
    // With the case-insensitive flag, two non-ASCII characters are word characters; and \\B is never true between the
    // bytes of one.
    this.#isUnsureBeyond = (ignoreCase && hasWordAssertions) || (!isUtf8 && assertions.has("\\B"));
    if (isUtf8) this.#watch = new CharacterWatch(nfa.sets.map((set) => set.except).join(""));
    this.start = { ...start, begun: 0 };
  }

  /** The number of NFA states examined. */
  get work(): number {
    return this.#simulation.work;
  }

  /** Non-ASCII bytes with the same result are equivalent. */
  kindBeyond(byte: number): string {
    return this.#watch ? `${byte < FIRST_BYTES} ${this.#watch.kind(byte)}` : "beyond";
  }

  /** Whether a line that ends here matches. */
  matchesAtEnd(state: DfaState): boolean {
    return this.#simulation.matchesAtEnd(state);
  }

  /** Reads a byte that is not a line ending. */
  read(state: DfaState, byte: number): DfaState | Outcome {
    // A truncated character is not valid UTF-8.
    if (state.begun > 0 && (byte < ASCII_SIZE || byte >= FIRST_BYTES)) return "unsure";
    if (byte < ASCII_SIZE) {
      return final(this.#readCharacter(state, WORD.ascii[byte] === true, ({ ascii }) => ascii[byte]));
    }
    if (this.#isUnsureBeyond) return "unsure";
    if (this.#watch === undefined) {
      return final(this.#readCharacter(state, false, (set) => (isOnlyAscii(set) ? false : undefined)));
    }
    if (byte < FIRST_BYTES) return readOn(state, this.#watch.next(state.begun, byte));
    // The lead byte represents the character, unless it turns out to be a watched one.
    const after = this.#readCharacter(state, false, ({ beyond }) =>
      beyond === "some" ? undefined : beyond === "all",
    );
    const begun = this.#watch.next(0, byte);
    return typeof after === "string" || begun === "complete" ? final(after) : final({ ...after, begun });
  }

  #readCharacter(
    state: DfaState,
    isWord: boolean,
    isIn: (set: CharacterSet) => boolean | undefined,
  ): DfaState | Outcome {
    const next = this.#simulation.read(state, isWord, isIn);
    return typeof next === "string" ? next : { ...next, begun: 0 };
  }
}

function isOnlyAscii({ beyond, except }: CharacterSet): boolean {
  return beyond === "none" && except === "";
}

/** Reads a continuation byte. */
function readOn(state: DfaState, begun: number | "complete"): DfaState | Outcome {
  // A line that begins with such a byte is not valid UTF-8.
  if (state.atStart || begun === "complete") return "unsure";
  return state.begun === 0 ? state : final({ ...state, begun });
}

/** The outcome, if it is already decided. */
function final(state: DfaState | Outcome): DfaState | Outcome {
  if (typeof state === "string" || state.begun > 0) return state;
  if (state.states.includes(END)) return "matched";
  return state.states.length === 0 ? "dead" : state;
}

/** Reads UTF-8 text byte by byte and detects when one of a few characters is complete. */
class CharacterWatch {
  /** The states of partly read characters, by number; 0 means none. */
  readonly #begun: string[] = [""];
  readonly #complete: ReadonlySet<string>;

  constructor(characters: Iterable<string>) {
    // A string with one character per byte.
    const encoded = Array.from(characters, (character) => Buffer.from(character).toString("latin1"));
    this.#complete = new Set(encoded);
    for (const bytes of this.#complete) {
      for (let length = 1; length < bytes.length; length++) {
        const begun = bytes.slice(0, length);
        if (!this.#begun.includes(begun)) this.#begun.push(begun);
      }
    }
  }

  /** The state after one more byte. */
  next(begun: number, byte: number): number | "complete" {
    const bytes = this.#begun[begun] + String.fromCharCode(byte);
    return this.#complete.has(bytes) ? "complete" : Math.max(0, this.#begun.indexOf(bytes));
  }

  /** Bytes with the same result are equivalent. */
  kind(byte: number): string {
    return this.#begun.map((_, begun) => this.next(begun, byte)).join();
  }
}
