/** Resolves to `undefined` after `ms`. (`node:timers/promises` would add to the cost of importing this package.) */
export function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
