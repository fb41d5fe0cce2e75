import type { Work } from "../work.js";
import type { Instruction, Program } from "./program.js";
import type { Codes } from "./tree.js";

/** Whether a match of `program` begins anywhere in the text, in time proportional to text times program. */
export function isFound(program: Program, codes: Codes, work: Work): boolean {
  return simulate(program, codes, work, () => true);
}

/** For each position, whether a match of `program` ends there, read in its direction. */
function matchEnds(program: Program, codes: Codes, work: Work): Uint8Array {
  const ends = new Uint8Array(codes.length + 1);
  simulate(program, codes, work, (position) => {
    ends[position] = 1;
    return false;
  });
  return ends;
}

/**
 * Keeps the set of all states that any way through the pattern can be in, and moves it over the text one
 * character at a time. Stops with `true` as soon as `onMatch` returns it.
 */
function simulate(
  { instructions, backwards }: Program,
  codes: Codes,
  work: Work,
  onMatch: (position: number) => boolean,
): boolean {
  // Whether a look-around holds depends on the position alone: compute all positions once.
  const looks = new Map<Program, Uint8Array>();
  // The step at which a state was last entered: each is entered once a position.
  const entered = new Int32Array(instructions.length).fill(-1);
  let states: number[] = [];
  let next: number[] = [];
  const pending: number[] = [];

  /** Follows the epsilon transitions from `start`. Returns whether the pattern matches here. */
  function enter(start: number, position: number, step: number, into: number[]): boolean {
    let matched = false;
    pending.push(start);
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      if (entered[state] === step) continue;
      entered[state] = step;
      work.spend(1);
      const instruction = instructions[state] as Instruction;
      switch (instruction.kind) {
        case "character":
          into.push(state);
          break;
        case "match":
          matched = true;
          break;
        case "jump":
          pending.push(instruction.to);
          break;
        case "split":
          pending.push(instruction.second, instruction.first);
          break;
        case "assertion":
          if (instruction.holds(codes, position)) pending.push(state + 1);
          break;
        case "look":
          if (holds(instruction, position)) pending.push(state + 1);
          break;
      }
    }
    return matched;
  }

  function holds(look: Extract<Instruction, { kind: "look" }>, position: number): boolean {
    let ends = looks.get(look.program);
    if (ends === undefined) {
      ends = matchEnds(look.program, codes, work);
      looks.set(look.program, ends);
    }
    return (ends[position] === 1) !== look.negative;
  }

  for (let step = 0; step <= codes.length; step++) {
    const position = backwards ? codes.length - step : step;
    // A match may begin at every position.
    let matched = enter(0, position, step, states);
    if (matched && onMatch(position)) return true;
    if (step === codes.length) break;
    const code = codes[backwards ? position - 1 : position] as number;
    next.length = 0;
    const following = backwards ? position - 1 : position + 1;
    matched = false;
    for (const state of states) {
      const instruction = instructions[state] as Instruction;
      work.spend(1);
      if (instruction.kind === "character" && instruction.fits(code)) {
        matched = enter(state + 1, following, step + 1, next) || matched;
      }
    }
    if (matched && onMatch(following)) return true;
    [states, next] = [next, states];
  }
  return false;
}
