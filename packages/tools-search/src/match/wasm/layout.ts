/**
 * The memory layout of the search programs. The `.wat` files contain the same numbers, since the offset of a load must
 * be a constant there.
 */
import { MAX_NEEDLE_BYTES } from "../needles/needle.js";
import { MAX_SET_BYTES } from "../needles/needleSet.js";

/** The bytes of the current needle. */
export const NEEDLE_AT = 0;
/** Its folds. */
export const FOLDS_AT = MAX_NEEDLE_BYTES;
/** The current DFA: the column of each byte, then the rows. */
export const COLUMNS_AT = 2048;
export const TABLE_AT = COLUMNS_AT + 256;
/** The table of the current needles, in its own page. */
export const SET_AT = 65_536;
/** The text. */
export const WINDOW_AT = SET_AT + MAX_SET_BYTES;
/** The programs may read this many bytes past the end of the text; matches there are ignored. */
export const READ_AHEAD = 128;
