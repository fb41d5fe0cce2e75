import type { Needle } from "./needle.js";

/**
 * Finds the next occurrence of any needle, searching for each separately. An occurrence is remembered until it is
 * passed, so `from` must not decrease.
 */
export function firstOfMany(
  needles: readonly Needle[],
  find: (needle: Needle, from: number) => number,
): (from: number) => number {
  const [only] = needles;
  if (only !== undefined && needles.length === 1) return (from) => find(only, from);
  const places = needles.map(() => -2);
  return (from) => {
    let first = -1;
    for (const [index, needle] of needles.entries()) {
      let place = places[index] ?? -1;
      if (place !== -1 && place < from) {
        place = find(needle, from);
        places[index] = place;
      }
      if (place !== -1 && (first === -1 || place < first)) first = place;
    }
    return first;
  };
}
