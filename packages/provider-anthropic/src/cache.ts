import type { WireMessage } from "./messages.js";
import type { CacheLifetime } from "./options.js";

/** What marks a cache point: the server caches everything up to it. */
export function cacheControl(lifetime: CacheLifetime): object | undefined {
  if (lifetime === false) return undefined;
  return lifetime === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: lifetime };
}

/**
 * Cache points on the last two messages of the user: the newest one writes the cache for the next request, and the
 * one before it is where the last request wrote, which the server would not find by itself after more than 20 blocks.
 */
export function withCachePoints(
  messages: readonly WireMessage[],
  mark: object | undefined,
): readonly WireMessage[] {
  if (!mark) return messages;
  const users = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const marked = new Set(users.slice(-2));
  return messages.map((message, index) =>
    marked.has(index) ? { role: message.role, content: markLast(message.content, mark) } : message,
  );
}

function markLast(blocks: readonly object[], mark: object): readonly object[] {
  return blocks.map((block, index) =>
    index === blocks.length - 1 ? { ...block, cache_control: mark } : block,
  );
}
