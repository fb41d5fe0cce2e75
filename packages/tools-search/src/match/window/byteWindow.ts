import type { Needle } from "../needles/needle.js";
import type { NeedleSet } from "../needles/needleSet.js";
import type { Dfa } from "../regex/dfa.js";

/** A block of memory that files are read into, and the searches on it. Positions are indexes of `buffer`. */
export interface ByteWindow {
  readonly buffer: Buffer;
  /** The first place of the needle in [from, to), or -1. */
  find(needle: Needle, from: number, to: number): number;
  /** A function that finds the first place of any of the needles in [from, to), or -1, for a `from` that only grows. */
  finder(set: NeedleSet, to: number): (from: number) => number;
  /**
   * Runs the DFA over the lines of [from, to), up to the first that matches or may match. Returns twice the place
   * where that showed, plus one if the expression must decide, or -1. The place is in the line or the end of it.
   */
  decide(dfa: Dfa, from: number, to: number): number;
  /** The first line break in [from, to), or `to`. */
  nextNewline(from: number, to: number): number;
  /** The last line break in [from, to), or -1. */
  lastNewline(from: number, to: number): number;
  countNewlines(from: number, to: number): number;
}
