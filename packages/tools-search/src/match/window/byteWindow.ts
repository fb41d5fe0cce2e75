import type { Needle } from "../needles/needle.js";
import type { NeedleSet } from "../needles/needleSet.js";
import type { Dfa } from "../regex/dfa.js";

/** A block of memory that files are read into, and the searches on it. Positions are indexes of `buffer`. */
export interface ByteWindow {
  readonly buffer: Buffer;
  /** The first occurrence of the needle in [from, to), or -1. */
  find(needle: Needle, from: number, to: number): number;
  /**
   * Returns a function that finds the first occurrence of any of the needles in [from, to), or -1, for an increasing
   * `from`.
   */
  finder(set: NeedleSet, to: number): (from: number) => number;
  /**
   * Runs the DFA over the lines of [from, to), up to the first that matches or may match. Returns twice the position
   * where that was detected, plus one if the expression must decide, or -1. The position is in the line or at its end.
   */
  decide(dfa: Dfa, from: number, to: number): number;
  /** The first line ending in [from, to), or `to`. */
  nextNewline(from: number, to: number): number;
  /** The last line ending in [from, to), or -1. */
  lastNewline(from: number, to: number): number;
  countNewlines(from: number, to: number): number;
}
