import * as shared from "@agent/internal";

/**
 * A number with its noun: `1 file`, `2 files`.
 *
 * @example
 * ```ts
 * import { countOf } from "@agent/core/toolkit";
 *
 * console.log(`${countOf(2, "line")} in ${countOf(1, "file")}`); // 2 lines in 1 file
 * ```
 */
export const countOf = shared.countOf;

/**
 * Like `escapeInvisible`, but always on one line, for names and titles in listings. Plain names are unchanged.
 *
 * @example
 * ```ts
 * import { escapeToLine } from "@agent/core/toolkit";
 *
 * console.log(escapeToLine("two\nlines")); // two\nlines
 * ```
 */
export const escapeToLine = shared.escapeToLine;

/**
 * Like `quote`, for a path, which is never shortened.
 *
 * @example
 * ```ts
 * import { quotePath } from "@agent/core/toolkit";
 *
 * console.log(`There is no file ${quotePath("notes/to do.md")}.`); // There is no file "notes/to do.md".
 * ```
 */
export const quotePath = shared.quotePath;

/**
 * Describes a value, short enough for an error message. Never throws.
 *
 * @example
 * ```ts
 * import { describeValue } from "@agent/core/toolkit";
 *
 * console.log(`path must be a string, got ${describeValue(4.5)}.`); // path must be a string, got number 4.5.
 * ```
 */
export const describeValue = shared.describeValue;

/**
 * The longest prefix of a text within a number of UTF-8 bytes, never cut inside a character.
 *
 * @example
 * ```ts
 * import { truncateUtf8 } from "@agent/core/toolkit";
 *
 * console.log(truncateUtf8("naïve", 3)); // na
 * ```
 */
export const truncateUtf8 = shared.truncateUtf8;

/**
 * The longest suffix of a text within a number of UTF-8 bytes, never cut inside a character.
 *
 * @example
 * ```ts
 * import { truncateUtf8Start } from "@agent/core/toolkit";
 *
 * console.log(truncateUtf8Start("naïve", 3)); // ve
 * ```
 */
export const truncateUtf8Start = shared.truncateUtf8Start;

/**
 * The largest number of bytes up to a limit that does not split a character.
 *
 * @example
 * ```ts
 * import { utf8Boundary } from "@agent/core/toolkit";
 *
 * console.log(utf8Boundary(new TextEncoder().encode("naïve"), 3)); // 2
 * ```
 */
export const utf8Boundary = shared.utf8Boundary;
