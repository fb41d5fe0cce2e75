/**
 * Where the search programs find what they work with. The `.wat` files hold the same numbers, since an offset of a load
 * has to be a constant there.
 */
import { MAX_NEEDLE_BYTES } from "../needles/needle.js";
import { MAX_SET_BYTES } from "../needles/needleSet.js";

/** The bytes of the needle in use. */
export const NEEDLE_AT = 0;
/** Its folds. */
export const FOLDS_AT = MAX_NEEDLE_BYTES;
/** The DFA in use: the column of each byte, then the rows. */
export const COLUMNS_AT = 2048;
export const TABLE_AT = COLUMNS_AT + 256;
/** The table of the needles in use, in its own page. */
export const SET_AT = 65_536;
/** The text. */
export const WINDOW_AT = SET_AT + MAX_SET_BYTES;
/** The programs may read this many bytes past the end of the text; what is found there does not count. */
export const READ_AHEAD = 128;
