import type { Content, ContentPart, TextPart } from "@agent/core";

/** Adds notes for the model to a message: events since the last one, and the mode. */
export function withNotes(content: Content, notes: readonly string[]): Content {
  if (notes.length === 0) return content;
  return [...partsOf(content), ...notes.map((note) => textPart(`<note>\n${note}\n</note>`))];
}

/** The message of a command: the line that the user typed, then the content that the command created. */
export function commandMessage(name: string, argument: string, made: Content): Content {
  const parts = partsOf(made).map((part) =>
    part.type === "text"
      ? textPart(`<command name=${JSON.stringify(name)}>\n${part.text}\n</command>`)
      : part,
  );
  return [textPart(`/${name} ${argument}`.trim()), ...parts];
}

function partsOf(content: Content): readonly ContentPart[] {
  return typeof content === "string" ? [textPart(content)] : content;
}

function textPart(text: string): TextPart {
  return { type: "text", text };
}
