/**
 * Puts `items` in place of `count` entries from `start` on. As `splice` without passing the items as arguments, of which
 * a call takes some hundred thousand at most: a session may have more.
 */
export function replaceRange<T>(list: T[], start: number, count: number, items: readonly T[]): void {
  const behind = list.splice(start).slice(Math.max(0, count));
  for (const item of items) list.push(item);
  for (const item of behind) list.push(item);
}
