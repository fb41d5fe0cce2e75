import { ASCII_SIZE, WORD } from "./characterSet.js";
import { END, type Steps } from "./steps.js";

/** How far matches may have come after some bytes of a line: at all of these steps at once. */
export interface LineState {
  readonly steps: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
}

/** `dead`: the line does not match. `unsure`: it has characters beyond ASCII, and the expression must decide. */
export type Outcome = "dead" | "matched" | "unsure";

/** What comes next in the text, for the edges that depend on it. */
type Ahead = "word" | "other" | "lineEnd";
type Place = Pick<LineState, "atStart" | "afterWord">;

/** Reads lines byte by byte along all ways through the steps at once. */
export class LineStates {
  /** How many steps were looked at. */
  work = 0;
  readonly start: LineState;
  /** Whether bytes that are part of a word must be told from others. */
  readonly hasWordEdges: boolean;
  readonly #looksAhead: boolean;
  readonly #isUnsureBeyond: boolean;
  /** For each step the round in which it was last seen. */
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(
    private readonly steps: Steps,
    ignoreCase: boolean,
  ) {
    const edges = new Set(steps.all.map((step) => (step.kind === "edge" ? step.edge : undefined)));
    this.hasWordEdges = edges.has("\\b") || edges.has("\\B");
    this.#looksAhead = this.hasWordEdges || edges.has("$");
    // Ignoring case, two characters beyond ASCII are part of a word; and no edge is between the bytes of one.
    this.#isUnsureBeyond = edges.has("\\B") || (ignoreCase && this.hasWordEdges);
    this.#seen = new Uint32Array(steps.all.length);
    const place = { atStart: true, afterWord: false };
    this.start = { steps: this.#follow([steps.first], place), ...place };
  }

  /** Whether a line that ends here matches. */
  matchesAtEnd(state: LineState): boolean {
    return this.#follow(state.steps, state, "lineEnd").includes(END);
  }

  /** Reads a byte that is no line break. */
  read(state: LineState, byte: number): LineState | Outcome {
    const isBeyond = byte >= ASCII_SIZE;
    if (isBeyond && this.#isUnsureBeyond) return "unsure";
    const isWord = WORD.ascii[byte] === true;
    const here = this.#looksAhead ? this.#follow(state.steps, state, isWord ? "word" : "other") : state.steps;
    if (here.includes(END)) return "matched";
    // A match may also begin behind this byte.
    const next = [this.steps.first];
    for (const number of here) {
      const step = this.steps.all[number];
      if (step?.kind !== "character") continue;
      if (isBeyond && step.set.beyond) return "unsure";
      if (step.set.ascii[byte]) next.push(step.next);
    }
    const place = { atStart: false, afterWord: this.hasWordEdges && isWord };
    const reached = this.#follow(next, place);
    if (reached.includes(END)) return "matched";
    return reached.length === 0 ? "dead" : { steps: reached, ...place };
  }

  /**
   * All steps that can be reached without reading on, in order. Edges that depend on what comes next are kept as long
   * as that is not known.
   */
  #follow(from: readonly number[], { atStart, afterWord }: Place, ahead?: Ahead): number[] {
    const round = ++this.#round;
    const kept: number[] = [];
    const waiting = [...from];
    for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
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

function isAt(edge: "$" | "\\b" | "\\B", afterWord: boolean, ahead: Ahead): boolean {
  if (edge === "$") return ahead === "lineEnd";
  return (afterWord !== (ahead === "word")) === (edge === "\\b");
}
