import { type Content, type ContentPart, contentText } from "@agent/core";

// The name of a file or a command is JSON.
const ADDED = /^<(?:file path=|directory path=|(command) name=|(note)>)("(?:[^"\\]|\\.)*")?/;
// The agent's replacement for older messages.
const COMPACTED = /^\[(Summary of the conversation so far|Earlier turns were left out to save room\.)\]/;

/** A part that the program added to the user's text, as sent to the model. */
export interface AddedPart {
  readonly kind: "file" | "image" | "command" | "note" | "summary";
  readonly name: string;
  /** Its text, or the description of an image. */
  readonly text: string;
}

/** Splits a message into the user's text and the parts added to it. */
export function splitMessage(content: Content): {
  readonly text: string;
  readonly added: readonly AddedPart[];
} {
  if (typeof content === "string") {
    const name = COMPACTED.exec(content)?.[1];
    return name === undefined
      ? { text: content, added: [] }
      : { text: "", added: [{ kind: "summary", name, text: content }] };
  }
  return {
    text: contentText(content.filter((part) => part.type === "text" && !ADDED.test(part.text))),
    added: content.flatMap((part) => readAdded(part) ?? []),
  };
}

function readAdded(part: ContentPart): AddedPart | undefined {
  if (part.type !== "text") {
    return { kind: part.type, name: part.name ?? part.mediaType, text: contentText([part]) };
  }
  const { text } = part;
  const [found, command, note, name = '""'] = ADDED.exec(text) ?? [];
  if (found === undefined) return undefined;
  return { kind: command ? "command" : note ? "note" : "file", name: nameOf(name), text };
}

/** The name as this program wrote it, or as it stands in a text that a user or a server wrote. */
function nameOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
