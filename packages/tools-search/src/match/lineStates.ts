import { ASCII_SIZE, type CharacterSet, WORD } from "./characterSet.js";
import { CharacterWatch } from "./characterWatch.js";
import { END, type Steps } from "./steps.js";

/** How far matches may have come after some bytes of a line: at all of these steps at once. */
export interface LineState {
  readonly steps: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
  /** What `CharacterWatch` has seen. As long as it has begun something, nothing that was read is final. */
  readonly begun: number;
}

/** `dead`: the line does not match. `unsure`: it has characters beyond ASCII, and the expression must decide. */
export type Outcome = "dead" | "matched" | "unsure";

/** What comes next in the text, for the edges that depend on it. */
type Ahead = "word" | "other" | "lineEnd";
type Place = Pick<LineState, "atStart" | "afterWord">;

/** In UTF-8 the bytes of a character beyond ASCII are a first one, from here on, and more, which are smaller. */
const FIRST_BYTES = 0xc0;

/** Reads lines byte by byte along all ways through the steps at once. */
export class LineStates {
  /** How many steps were looked at. */
  work = 0;
  readonly start: LineState;
  /** Whether bytes that are part of a word must be told from others. */
  readonly hasWordEdges: boolean;
  readonly #looksAhead: boolean;
  readonly #isUnsureBeyond: boolean;
  readonly #watch: CharacterWatch | undefined;
  /** For each step the round in which it was last seen. */
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(
    private readonly steps: Steps,
    { ignoreCase, isUtf8 }: { readonly ignoreCase: boolean; readonly isUtf8: boolean },
  ) {
    const edges = new Set(steps.all.map((step) => (step.kind === "edge" ? step.edge : undefined)));
    this.hasWordEdges = edges.has("\\b") || edges.has("\\B");
    this.#looksAhead = this.hasWordEdges || edges.has("$");
    // Ignoring case, two characters beyond ASCII are part of a word; and no edge is between the bytes of one.
    this.#isUnsureBeyond = (ignoreCase && this.hasWordEdges) || (!isUtf8 && edges.has("\\B"));
    if (isUtf8) this.#watch = new CharacterWatch(steps.sets.map((set) => set.except).join(""));
    this.#seen = new Uint32Array(steps.all.length);
    const place = { atStart: true, afterWord: false };
    this.start = { steps: this.#follow([steps.first], place), ...place, begun: 0 };
  }

  /** Bytes beyond ASCII with the same answer make no difference. */
  kindBeyond(byte: number): string {
    return this.#watch ? `${byte < FIRST_BYTES} ${this.#watch.kind(byte)}` : "beyond";
  }

  /** Whether a line that ends here matches. */
  matchesAtEnd(state: LineState): boolean {
    return this.#follow(state.steps, state, "lineEnd").includes(END);
  }

  /** Reads a byte that is no line break. */
  read(state: LineState, byte: number): LineState | Outcome {
    // A character that is cut off is not UTF-8.
    if (state.begun > 0 && (byte < ASCII_SIZE || byte >= FIRST_BYTES)) return "unsure";
    if (byte < ASCII_SIZE) {
      return final(this.#readCharacter(state, WORD.ascii[byte] === true, ({ ascii }) => ascii[byte]));
    }
    if (this.#isUnsureBeyond) return "unsure";
    if (this.#watch === undefined) {
      return final(this.#readCharacter(state, false, (set) => (isOnlyAscii(set) ? false : undefined)));
    }
    if (byte < FIRST_BYTES) return readOn(state, this.#watch.next(state.begun, byte));
    // The first byte stands for the character, unless it turns out to be one that is watched for.
    const after = this.#readCharacter(state, false, ({ beyond }) =>
      beyond === "some" ? undefined : beyond === "all",
    );
    const begun = this.#watch.next(0, byte);
    return typeof after === "string" || begun === "complete" ? final(after) : final({ ...after, begun });
  }

  /** `isIn` says whether the character is in a set, or `undefined` if only the expression can tell. */
  #readCharacter(
    state: LineState,
    isWord: boolean,
    isIn: (set: CharacterSet) => boolean | undefined,
  ): LineState | Outcome {
    const here = this.#looksAhead ? this.#follow(state.steps, state, isWord ? "word" : "other") : state.steps;
    if (here.includes(END)) return "matched";
    const next: number[] = [];
    for (const number of here) {
      const step = this.steps.all[number];
      if (step?.kind !== "character") continue;
      const fits = isIn(step.set);
      if (fits === undefined) return "unsure";
      if (fits) next.push(step.next);
    }
    // A match may also begin behind this character.
    next.push(this.steps.first);
    const place = { atStart: false, afterWord: this.hasWordEdges && isWord };
    return { steps: this.#follow(next, place), ...place, begun: 0 };
  }

  /**
   * All steps that can be reached without reading on, in order. Edges that depend on what comes next are kept as long
   * as that is not known.
   */
  #follow(from: readonly number[], { atStart, afterWord }: Place, ahead?: Ahead): number[] {
    const round = ++this.#round;
    const kept: number[] = [];
    const waiting = [...from];
    for (const number of waiting) {
      if (this.#seen[number] === round) continue;
      this.#seen[number] = round;
      this.work++;
      const step = this.steps.all[number];
      if (step?.kind === "fork") waiting.push(...step.next);
      else if (step?.kind !== "edge") kept.push(number);
      else if (step.edge === "^") {
        if (atStart) waiting.push(step.next);
      } else if (ahead === undefined) kept.push(number);
      else if (isAt(step.edge, afterWord, ahead)) waiting.push(step.next);
    }
    return kept.sort((a, b) => a - b);
  }
}

function isOnlyAscii({ beyond, except }: CharacterSet): boolean {
  return beyond === "none" && except === "";
}

/** Reads another byte of a character. */
function readOn(state: LineState, begun: number | "complete"): LineState | Outcome {
  // A line that begins with such a byte is not UTF-8.
  if (state.atStart || begun === "complete") return "unsure";
  return state.begun === 0 ? state : final({ ...state, begun });
}

/** The outcome, if there is one already. */
function final(state: LineState | Outcome): LineState | Outcome {
  if (typeof state === "string" || state.begun > 0) return state;
  if (state.steps.includes(END)) return "matched";
  return state.steps.length === 0 ? "dead" : state;
}

function isAt(edge: "$" | "\\b" | "\\B", afterWord: boolean, ahead: Ahead): boolean {
  if (edge === "$") return ahead === "lineEnd";
  return (afterWord !== (ahead === "word")) === (edge === "\\b");
}
