import { type CharacterSet, characterSet } from "./characterSet.js";
import type { Assertion, RegexTree } from "./tree.js";

/**
 * A nondeterministic finite automaton: states with transitions, by number. A match is a path from `first` to the end.
 */
export interface Nfa {
  readonly all: readonly NfaState[];
  readonly first: number;
  readonly sets: readonly CharacterSet[];
}

type NfaState =
  | { readonly kind: "end" }
  /** A transition for one of the set's characters. */
  | { readonly kind: "character"; readonly set: CharacterSet; readonly next: number }
  /** A transition where this assertion is true. */
  | { readonly kind: "assertion"; readonly assertion: Assertion; readonly next: number }
  /** A transition to several states. */
  | { readonly kind: "fork"; readonly next: readonly number[] };

/** The number of the accepting state. */
export const END = 0;

/** Thompson's construction, with repetitions expanded. `undefined`: it needs more than `maxStates`. */
export function buildNfa(tree: RegexTree, ignoreCase: boolean, maxStates: number): Nfa | undefined {
  const writer = new Writer(ignoreCase, maxStates);
  try {
    const first = writer.write(tree, END);
    return { all: writer.all, first, sets: [...writer.sets.values()] };
  } catch (error) {
    if (error instanceof TooManyStates) return undefined;
    throw error;
  }
}

class TooManyStates extends Error {}

class Writer {
  readonly all: NfaState[] = [{ kind: "end" }];
  readonly sets = new Map<string, CharacterSet>();

  readonly #ignoreCase: boolean;
  readonly #maxStates: number;

  constructor(ignoreCase: boolean, maxStates: number) {
    this.#ignoreCase = ignoreCase;
    this.#maxStates = maxStates;
  }

  /** Adds the states of the tree, which continue with the state `next`, and returns the first. */
  write(tree: RegexTree, next: number): number {
    switch (tree.kind) {
      case "character":
        return this.#add({ kind: "character", set: this.#set(tree.source), next });
      case "assertion":
        return this.#add({ kind: "assertion", assertion: tree.assertion, next });
      case "sequence":
        return tree.parts.reduceRight((after, part) => this.write(part, after), next);
      case "choice":
        return this.#fork(tree.branches.map((branch) => this.write(branch, next)));
      case "repeat":
        return this.#repeat(tree.part, tree.least, tree.most, next);
    }
  }

  #repeat(part: RegexTree, least: number, most: number, next: number): number {
    let first = next;
    if (most === Number.POSITIVE_INFINITY) first = this.#loop(part, next);
    else for (let round = least; round < most; round++) first = this.#fork([this.write(part, first), next]);
    for (let round = 0; round < least; round++) first = this.write(part, first);
    return first;
  }

  /** Any number of repetitions: after one, another may begin. */
  #loop(part: RegexTree, next: number): number {
    const ways = [next];
    const fork = this.#fork(ways);
    ways.push(this.write(part, fork));
    return fork;
  }

  #fork(next: readonly number[]): number {
    return this.#add({ kind: "fork", next });
  }

  #add(state: NfaState): number {
    if (this.all.length >= this.#maxStates) throw new TooManyStates();
    return this.all.push(state) - 1;
  }

  #set(source: string): CharacterSet {
    const set = this.sets.get(source) ?? characterSet(source, this.#ignoreCase);
    this.sets.set(source, set);
    return set;
  }
}
