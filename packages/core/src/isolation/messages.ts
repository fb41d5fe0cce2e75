import { isRecord } from "@agent/internal";
import { type Content, type ContentPart, findContentProblem } from "../conversation/content.js";
import type { MentionItem, QuestionField } from "../tools/pack.js";
import type { RedirectedCall } from "../tools/tool.js";
import type { Frame } from "./protocol.js";

// Parsers for what the process of a pack sends during calls. They trust nothing: its code may be hostile.

const MAX_ITEMS = 100;

export function readRedirect(value: unknown): RedirectedCall | undefined {
  if (value === undefined || value === null) return undefined;
  const { name, args } = Object(value) as { name?: unknown; args?: unknown };
  if (typeof name !== "string" || !isRecord(args))
    throw new Error("it redirects to something that is not a call");
  return { name, args };
}

/** Throws for a part that no model accepts. The process is killed then, since its runtime should have checked it. */
export function attachedPart({ type, mediaType, name }: Record<string, unknown>, raw: Buffer): ContentPart {
  if (type === "text") return { type, text: raw.toString() };
  const part = { type, mediaType, data: raw.toString("base64"), ...(name !== undefined && { name }) };
  return part as unknown as ContentPart;
}

const FIELD_TYPES = ["text", "number", "integer", "boolean", "choice", "choices"] as const;

/** Checks the fields of a question, which a host displays as text. Throws for anything else. */
export function readFields(value: readonly unknown[]): QuestionField[] {
  const isTextOrAbsent = (one: unknown): boolean => one === undefined || typeof one === "string";
  return value.slice(0, MAX_ITEMS).map((field) => {
    const { name, type, title, description, required, options, other, default: suggested } = Object(field);
    const known = FIELD_TYPES.find((one) => one === type);
    const isWhole =
      typeof name === "string" &&
      [title, description].every(isTextOrAbsent) &&
      (options === undefined ||
        (Array.isArray(options) &&
          options.every((one) => typeof one?.value === "string" && isTextOrAbsent(one.title))));
    if (known === undefined || !isWhole) throw new Error("a field of the question is malformed");
    return {
      ...{ name, type: known, required: required === true },
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(options !== undefined && { options }),
      ...(other === true && { other }),
      ...(suggested !== undefined && { default: suggested }),
    };
  });
}

export function readMentions(value: unknown): MentionItem[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
  return list.flatMap(({ id, description }: { id?: unknown; description?: unknown }) =>
    typeof id === "string" ? [{ id, ...(typeof description === "string" && { description }) }] : [],
  );
}

export function readContent({ message, raw }: Frame, what: string): Content {
  return checkedContent(raw?.toString() ?? message.result, what);
}

export function checkedContent(value: unknown, what: string): Content {
  const problem = findContentProblem(value);
  if (problem !== undefined) throw new Error(`${what} ${problem}.`);
  return value as Content;
}
