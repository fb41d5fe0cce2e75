import type { Content, ContentPart, MentionItem, MentionSource } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type { ServerConnection } from "./connection/serverConnection.js";
import { boundedParts, resourceText } from "./results/toolResult.js";

const MAX_ITEMS = 50;
// One resource may be answered with several contents, such as those of a directory.
const MAX_CONTENTS = 100;
// How long the list is cached: long enough to type one mention, short enough to show what a server has added.
const LIST_AGE_MS = 30_000;

/** The resources of a server, mentioned as `@docs:file:///guide.md`. The first mention starts the server. */
export function resourceMentions(connection: ServerConnection): MentionSource {
  let listed: { readonly at: number; readonly items: readonly MentionItem[] } | undefined;
  return {
    name: connection.name,
    async list(query, signal) {
      if (listed === undefined || performance.now() - listed.at > LIST_AGE_MS) {
        const resources = await connection.use(signal, (session) => session.listResources(signal));
        listed = { at: performance.now(), items: resources.flatMap(toItem) };
      }
      const wanted = query.toLowerCase();
      const fits = ({ id, description = "" }: MentionItem) =>
        `${id} ${description}`.toLowerCase().includes(wanted);
      return listed.items.filter(fits).slice(0, MAX_ITEMS);
    },
    async read(uri, signal): Promise<Content> {
      const contents = await connection.use(signal, (session, timeoutMs) =>
        session.readResource(uri, { timeoutMs, signal }),
      );
      const resources = contents.slice(0, MAX_CONTENTS).filter(isRecord);
      const parts = resources.flatMap((resource): ContentPart[] => {
        const attached: ContentPart[] = [];
        const text = resourceText(resource, (part) => attached.push(part));
        return [{ type: "text", text }, ...attached];
      });
      return boundedParts(parts);
    },
  };
}

function toItem(resource: unknown): MentionItem[] {
  if (!isRecord(resource) || typeof resource.uri !== "string") return [];
  const label = [resource.title, resource.name, resource.description].find((one) => typeof one === "string");
  return [
    {
      id: escapeToLine(resource.uri),
      ...(typeof label === "string" && { description: escapeToLine(truncateUtf8(label, 200)) }),
    },
  ];
}
