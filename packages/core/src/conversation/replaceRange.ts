/**
 * Replaces `count` entries from `start` on with `items`. Does not spread them into `splice`: a call takes a few hundred
 * thousand arguments at most, and a session may have more messages.
 */
export function replaceRange<T>(list: T[], start: number, count: number, items: readonly T[]): void {
  const behind = list.splice(start).slice(Math.max(0, count));
  for (const item of items) list.push(item);
  for (const item of behind) list.push(item);
}
