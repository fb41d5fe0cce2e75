import { type Content, type ContentPart, contentText } from "@agent/core";

// The name of a file or a command is JSON.
const ADDED = /^<(?:file path=|directory path=|(command) name=|(note)>)("(?:[^"\\]|\\.)*")?/;
// What the agent puts in place of older messages.
const COMPACTED = /^\[(Summary of the conversation so far|Earlier turns were left out to save room\.)\]/;

/** A part that the program added to what the user wrote, as the model got it. */
export interface AddedPart {
  readonly kind: "file" | "image" | "command" | "note" | "summary";
  readonly name: string;
  /** Its text; of an image a description. */
  readonly text: string;
}

/** Splits a message into what the user wrote and what was added to it. */
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
  return { kind: command ? "command" : note ? "note" : "file", name: String(JSON.parse(name)), text };
}
