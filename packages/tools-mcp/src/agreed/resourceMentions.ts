import type { MentionItem, MentionSource } from "@agent/core";
import type { AgreedServer } from "./agreedServer.js";

const MAX_ITEMS = 50;
// How long the list is cached: long enough to type one mention, short enough to show what a server has added.
const LIST_AGE_MS = 30_000;

/** The resources of a server, mentioned as `@docs:file:///guide.md`. The first mention starts the server. */
export function resourceMentions(server: AgreedServer): MentionSource {
  let listed: { readonly at: number; readonly items: readonly MentionItem[] } | undefined;
  return {
    name: server.name,
    async list(query, signal) {
      if (listed === undefined || performance.now() - listed.at > LIST_AGE_MS) {
        const items = await (await server.use(signal)).listResources(signal);
        listed = { at: performance.now(), items };
      }
      const wanted = query.toLowerCase();
      const fits = ({ id, description = "" }: MentionItem) =>
        `${id} ${description}`.toLowerCase().includes(wanted);
      return listed.items.filter(fits).slice(0, MAX_ITEMS);
    },
    read: async (uri, signal) => await (await server.use(signal)).readResource(uri, signal),
  };
}
