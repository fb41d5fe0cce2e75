import { truncateMiddle } from "./toolkit/truncate.js";

/**
 * Shortens the longest of several texts so that together they fit `maxBytes`: every text up to the common
 * limit stays whole.
 */
export function fitTogether(texts: readonly string[], maxBytes: number): string[] {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= maxBytes) return [...texts];
  const limit = commonLimit(sizes, maxBytes);
  return texts.map((text) =>
    truncateMiddle(text, limit, "All results of one turn share a budget; ask for less at a time."),
  );
}

/** The size to which the longest must shrink so that the sum of all fits: short ones give their share away. */
function commonLimit(sizes: readonly number[], maxBytes: number): number {
  let left = maxBytes;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return maxBytes;
}
