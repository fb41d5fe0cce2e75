import { UnsupportedPattern } from "./parse.js";
import type { Assertion, CharacterTest, Node } from "./tree.js";

// A repetition is written out as often as it counts: "[a-z]{1,5000}" is real, "(a{1000}){1000}" is an attack.
const MAX_INSTRUCTIONS = 100_000;

export type Instruction =
  | { readonly kind: "character"; readonly fits: CharacterTest }
  | { readonly kind: "assertion"; readonly holds: Assertion }
  | { readonly kind: "look"; readonly program: Program; readonly negative: boolean }
  /** Continues at both instructions (split). */
  | { readonly kind: "split"; first: number; second: number }
  | { readonly kind: "jump"; to: number }
  | { readonly kind: "match" };

/** Instructions for an NFA simulation (Thompson, Pike). */
export interface Program {
  readonly instructions: readonly Instruction[];
  /** Reads the text from its end, to find all positions at which a look-ahead holds. */
  readonly backwards: boolean;
}

/** Throws `UnsupportedPattern` for a pattern that becomes too large. */
export function compileProgram(
  root: Node,
  backwards = false,
  looks: Map<Node, Program> = new Map(),
): Program {
  const instructions: Instruction[] = [];

  function emit<One extends Instruction>(instruction: One): One {
    if (instructions.length >= MAX_INSTRUCTIONS) {
      throw new UnsupportedPattern(`repeats its parts more than ${MAX_INSTRUCTIONS} times`);
    }
    instructions.push(instruction);
    return instruction;
  }

  function write(node: Node): void {
    switch (node.kind) {
      case "character":
      case "assertion":
        emit(node);
        return;
      case "group":
        write(node.body);
        return;
      case "sequence":
        for (const part of backwards ? [...node.parts].reverse() : node.parts) write(part);
        return;
      case "choice":
        writeChoice(node.options);
        return;
      case "repeat":
        writeRepeat(node.body, node.min, node.max);
        return;
      case "look":
        emit({ kind: "look", program: lookProgram(node), negative: node.negative });
        return;
      case "reference":
        throw new UnsupportedPattern("uses a back-reference");
    }
  }

  /** Compiled once, however often a repetition around it is written out. */
  function lookProgram(node: Extract<Node, { kind: "look" }>): Program {
    const program = looks.get(node) ?? compileProgram(node.body, !node.behind, looks);
    looks.set(node, program);
    return program;
  }

  function writeChoice(options: readonly Node[]): void {
    const jumps: { to: number }[] = [];
    for (const [index, option] of options.entries()) {
      if (index === options.length - 1) {
        write(option);
        break;
      }
      const split = emit({ kind: "split", first: instructions.length + 1, second: 0 });
      write(option);
      jumps.push(emit({ kind: "jump", to: 0 }));
      split.second = instructions.length;
    }
    for (const jump of jumps) jump.to = instructions.length;
  }

  function writeRepeat(body: Node, min: number, max: number): void {
    for (let count = 0; count < min; count++) {
      const before = instructions.length;
      write(body);
      // An empty body compiles to no instructions, however often it is repeated.
      if (instructions.length === before) break;
    }
    if (max === Number.POSITIVE_INFINITY) {
      const start = instructions.length;
      const split = emit({ kind: "split", first: start + 1, second: 0 });
      write(body);
      emit({ kind: "jump", to: start });
      split.second = instructions.length;
      return;
    }
    const splits: { second: number }[] = [];
    for (let count = min; count < max; count++) {
      splits.push(emit({ kind: "split", first: instructions.length + 1, second: 0 }));
      write(body);
    }
    for (const split of splits) split.second = instructions.length;
  }

  write(root);
  emit({ kind: "match" });
  return { instructions, backwards };
}
