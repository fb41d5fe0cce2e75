import { type Content, type ContentPart, checkContent } from "../../conversation/content.js";

/** Content as parts, in order; a text is one part, an empty text none. */
export function contentParts(content: Content): readonly ContentPart[] {
  checkContent(content);
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}
