import { type Content, type ContentPart, contentText, partBytes } from "../../conversation/content.js";

/** What a server takes of one media type, and the words for it: `images up to 5 MB`. */
export type PartLimit = (part: Exclude<ContentPart, { type: "text" }>) => number;

/** Content as parts, in order; a text is one part, an empty text none. */
export function contentParts(content: Content): readonly ContentPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

/**
 * Replaces each image or file that is larger than the server takes by words that say so: the model learns what it
 * does not see, and the request is not refused. `onRefused` hears of each.
 */
export function withinLimits(
  parts: readonly ContentPart[],
  limit: PartLimit,
  onRefused: (text: string) => void,
): readonly ContentPart[] {
  if (parts.every((part) => part.type === "text" || partBytes(part) <= limit(part))) return parts;
  return parts.map((part) => {
    if (part.type === "text" || partBytes(part) <= limit(part)) return part;
    const text = `${contentText([part])} (not shown: the server takes at most ${limit(part)} bytes. Scale it down or send a part of it.)`;
    onRefused(text);
    return { type: "text", text };
  });
}
