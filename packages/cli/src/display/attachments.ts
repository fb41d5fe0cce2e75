import { type Content, contentText } from "@agent/core";

const ATTACHED = /^<(?:file|directory) path=("(?:[^"\\]|\\.)*")/;

/** A file or other thing attached to a message, as the model got it. */
interface Attachment {
  readonly name: string;
  readonly text: string;
}

/** Splits a message into the person's text and what was attached to it. Images are left out. */
export function splitAttachments(content: Content): {
  readonly text: string;
  readonly attachments: readonly Attachment[];
} {
  if (typeof content === "string") return { text: content, attachments: [] };
  const attachments: Attachment[] = [];
  const written = content.filter((part) => {
    const name = part.type === "text" ? ATTACHED.exec(part.text)?.[1] : undefined;
    if (name === undefined || part.type !== "text") return part.type === "text";
    attachments.push({ name: String(JSON.parse(name)), text: part.text });
    return false;
  });
  return { text: contentText(written), attachments };
}
