import type { TurnList } from "@agent/core/provider";
import type { CacheLifetime } from "./options.js";

/** The cache breakpoint as JSON text: the server caches everything up to it. */
export function cacheControl(lifetime: CacheLifetime): string | undefined {
  if (lifetime === false) return undefined;
  return JSON.stringify({ type: "ephemeral", ...(lifetime !== "5m" && { ttl: lifetime }) });
}

/** JSON objects, separated by commas, with a cache breakpoint in the last one. */
export function withMark(objects: string, mark: string | undefined): string {
  return mark === undefined ? objects : `${objects.slice(0, -1)},"cache_control":${mark}}`;
}

/**
 * Sets cache breakpoints on the last two messages of the user. The newest one writes the cache for the next request. The
 * one before it is where the last request wrote: the server searches only 20 blocks back for it by itself.
 */
export function withCachePoints<Role extends string>(
  list: TurnList<Role>,
  mark: string | undefined,
): TurnList<Role> {
  const users = list.turns.filter(({ role }) => role === "user");
  for (const turn of users.slice(-2)) turn.text = withMark(turn.text, mark);
  return list;
}
