import { type CharacterSet, characterSet } from "./characterSet.js";
import type { Edge, RegexTree } from "./regexTree.js";

/** An expression as steps that lead to each other, by number; a match is a way from `first` to the end. */
export interface Steps {
  readonly all: readonly Step[];
  readonly first: number;
  readonly sets: readonly CharacterSet[];
}

type Step =
  | { readonly kind: "end" }
  /** Goes on with one of the set's characters. */
  | { readonly kind: "character"; readonly set: CharacterSet; readonly next: number }
  /** Goes on where the text has this edge. */
  | { readonly kind: "edge"; readonly edge: Edge; readonly next: number }
  /** Goes on in any of several ways. */
  | { readonly kind: "fork"; readonly next: readonly number[] };

/** The number of the step that is the end of every match. */
export const END = 0;
const MAX_STEPS = 1000;

/** Writes out an expression, each round of a repetition for itself. `undefined`: there would be too many steps. */
export function stepsOf(tree: RegexTree, ignoreCase: boolean): Steps | undefined {
  const writer = new Writer(ignoreCase);
  try {
    const first = writer.write(tree, END);
    return { all: writer.all, first, sets: [...writer.sets.values()] };
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

class TooManySteps extends Error {}

class Writer {
  readonly all: Step[] = [{ kind: "end" }];
  readonly sets = new Map<string, CharacterSet>();

  constructor(private readonly ignoreCase: boolean) {}

  /** Writes the tree so that it goes on with the step `next`, and returns where it begins. */
  write(tree: RegexTree, next: number): number {
    switch (tree.kind) {
      case "character":
        return this.#add({ kind: "character", set: this.#set(tree.source), next });
      case "edge":
        return this.#add({ kind: "edge", edge: tree.edge, next });
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

  /** Any number of rounds: where one ends, another may begin. */
  #loop(part: RegexTree, next: number): number {
    const ways = [next];
    const fork = this.#fork(ways);
    ways.push(this.write(part, fork));
    return fork;
  }

  #fork(next: readonly number[]): number {
    return this.#add({ kind: "fork", next });
  }

  #add(step: Step): number {
    if (this.all.length >= MAX_STEPS) throw new TooManySteps();
    return this.all.push(step) - 1;
  }

  #set(source: string): CharacterSet {
    const set = this.sets.get(source) ?? characterSet(source, this.ignoreCase);
    this.sets.set(source, set);
    return set;
  }
}
