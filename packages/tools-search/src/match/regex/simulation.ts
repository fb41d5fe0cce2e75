import type { CharacterSet } from "./characterSet.js";
import { END, type Nfa } from "./nfa.js";
import type { Assertion } from "./tree.js";

/** The progress of possible matches after some characters of a line: all of these NFA states at the same time. */
export interface StateSet {
  readonly states: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
}

/** The next character of the text, for assertions that look ahead. */
type Ahead = "word" | "other" | "lineEnd";
type Place = Pick<StateSet, "atStart" | "afterWord">;

/** Follows all paths through an NFA at the same time, so the time is linear in the length of the line. */
export class NfaSimulation {
  /** The number of states examined. */
  work = 0;
  readonly start: StateSet;
  /** Whether word characters must be distinguished from others. */
  readonly hasWordAssertions: boolean;
  readonly assertions: ReadonlySet<Assertion>;
  readonly #looksAhead: boolean;
  /** For each state the step in which it was last visited. */
  readonly #seen: Uint32Array;
  #round = 0;

  readonly #nfa: Nfa;

  constructor(nfa: Nfa) {
    this.#nfa = nfa;
    const assertions = nfa.all.flatMap((state) => (state.kind === "assertion" ? [state.assertion] : []));
    this.assertions = new Set(assertions);
    this.hasWordAssertions = this.assertions.has("\\b") || this.assertions.has("\\B");
    this.#looksAhead = this.hasWordAssertions || this.assertions.has("$");
    this.#seen = new Uint32Array(nfa.all.length);
    const place = { atStart: true, afterWord: false };
    this.start = { states: this.#closure([nfa.first], place), ...place };
  }

  /** Whether a line that ends here matches. */
  matchesAtEnd(set: StateSet): boolean {
    return this.#closure(set.states, set, "lineEnd").includes(END);
  }

  /**
   * Reads one character. `isIn` returns whether it is in a set, or `undefined` if that is unknown: then the result is
   * unknown too.
   */
  read(
    set: StateSet,
    isWord: boolean,
    isIn: (characters: CharacterSet) => boolean | undefined,
  ): StateSet | "matched" | "unsure" {
    const here = this.#looksAhead ? this.#closure(set.states, set, isWord ? "word" : "other") : set.states;
    if (here.includes(END)) return "matched";
    const next: number[] = [];
    for (const number of here) {
      const state = this.#nfa.all[number];
      if (state?.kind !== "character") continue;
      const fits = isIn(state.set);
      if (fits === undefined) return "unsure";
      if (fits) next.push(state.next);
    }
    // A match may also begin after this character.
    next.push(this.#nfa.first);
    const place = { atStart: false, afterWord: this.hasWordAssertions && isWord };
    return { states: this.#closure(next, place), ...place };
  }

  /** The epsilon closure, in order. Assertions about the next character are kept until it is known. */
  #closure(from: readonly number[], { atStart, afterWord }: Place, ahead?: Ahead): number[] {
    const round = ++this.#round;
    const kept: number[] = [];
    const waiting = [...from];
    for (const number of waiting) {
      if (this.#seen[number] === round) continue;
      this.#seen[number] = round;
      this.work++;
      const state = this.#nfa.all[number];
      if (state?.kind === "fork") waiting.push(...state.next);
      else if (state?.kind !== "assertion") kept.push(number);
      else if (state.assertion === "^") {
        if (atStart) waiting.push(state.next);
      } else if (ahead === undefined) kept.push(number);
      else if (holds(state.assertion, afterWord, ahead)) waiting.push(state.next);
    }
    return kept.sort((a, b) => a - b);
  }
}

function holds(assertion: "$" | "\\b" | "\\B", afterWord: boolean, ahead: Ahead): boolean {
  if (assertion === "$") return ahead === "lineEnd";
  return (afterWord !== (ahead === "word")) === (assertion === "\\b");
}
