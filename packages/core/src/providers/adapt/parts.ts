import type { Content, ContentPart } from "../../conversation/content.js";

/** Content as parts, in order; a text is one part, an empty text none. */
export function contentParts(content: Content): readonly ContentPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}
