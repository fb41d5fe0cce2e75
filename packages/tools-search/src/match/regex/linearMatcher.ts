import { type CharacterSet, characterSet } from "./characterSet.js";
import { END, type Nfa } from "./nfa.js";
import { NfaSimulation, type StateSet } from "./simulation.js";

/** The maximum number of cached states; a line that needs more continues with an empty cache. */
const MAX_CACHED = 2000;

interface CachedState {
  readonly set: StateSet;
  /** The next states, by code point. */
  readonly next: Map<number, CachedState | "matched">;
}

/**
 * Matches decoded lines without backtracking: a DFA over characters whose states are created on demand. Slower than the
 * table over bytes, but it supports every character, takes expressions of any size, and always runs in linear time.
 */
export class LinearMatcher {
  readonly #simulation: NfaSimulation;
  readonly #word: CharacterSet;
  readonly #start: CachedState;
  readonly #states = new Map<string, CachedState>();

  constructor(nfa: Nfa, ignoreCase: boolean) {
    this.#simulation = new NfaSimulation(nfa);
    this.#word = characterSet("\\w", ignoreCase);
    this.#start = { set: this.#simulation.start, next: new Map() };
  }

  /** The position in the line where a match is detected, or -1. */
  find(line: string): number {
    let state = this.#start;
    if (state.set.states.includes(END)) return 0;
    for (let at = 0; at < line.length; ) {
      const character = line.codePointAt(at) as number;
      const next = state.next.get(character) ?? this.#read(state, character);
      if (next === "matched") return at;
      if (next.set.states.length === 0) return -1;
      state = next;
      at += character > 0xffff ? 2 : 1;
    }
    return this.#simulation.matchesAtEnd(state.set) ? line.length : -1;
  }

  #read(state: CachedState, character: number): CachedState | "matched" {
    const isWord = this.#simulation.hasWordAssertions && this.#word.has(character);
    const set = this.#simulation.read(state.set, isWord, (characters) => characters.has(character));
    const next = typeof set === "string" || set.states.includes(END) ? "matched" : this.#cached(set);
    state.next.set(character, next);
    return next;
  }

  #cached(set: StateSet): CachedState {
    const key = `${set.states.join()} ${set.afterWord}`;
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= MAX_CACHED) {
      this.#states.clear();
      this.#start.next.clear();
    }
    const state = { set, next: new Map() };
    this.#states.set(key, state);
    return state;
  }
}
