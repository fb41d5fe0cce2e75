/** Resolves to `undefined` after `ms`. (`node:timers/promises` would add to what importing this package costs.) */
export function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
