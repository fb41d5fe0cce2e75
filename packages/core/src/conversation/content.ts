import { describeValue, isRecord, quote } from "@agent/internal";
import { checkFunction, invalidArgument } from "../toolkit/hostOptions/checks.js";

/** The maximum decoded size of one image or file. Servers refuse larger ones, and the session file would keep them. */
const MAX_PART_BYTES = 20 * 1024 * 1024;

// Approximate tokens that servers charge for an image, and for a page of a document.
const IMAGE_TOKENS = 1600;
const FILE_TOKENS_PER_KIB = 40;
const CHARACTERS_PER_TOKEN = 4;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A picture. `data` is base64 without a `data:` prefix. */
export interface ImagePart {
  readonly type: "image";
  /** `image/png`, `image/jpeg`, … */
  readonly mediaType: string;
  readonly data: string;
  /** Its origin, such as a file name, for people and for models without vision. */
  readonly name?: string;
}

/** A document, such as a PDF. `data` is base64 without a `data:` prefix. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: string;
  readonly name?: string;
}

/** A piece of a user message or of a tool's result. */
export type ContentPart = TextPart | ImagePart | FilePart;

/** The content of a user message or a tool's result: a text, or parts in reading order. */
export type Content = string | readonly ContentPart[];

/** The problem with a value that should be `Content`, as the end of a sentence, or `undefined`. */
export function findContentProblem(content: unknown): string | undefined {
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content)) return `must be a string or an array of parts, got ${describeValue(content)}`;
  if (content.length === 0) return "has no parts";
  for (const [index, part] of content.entries()) {
    const problem = findPartProblem(part);
    if (problem !== undefined) return `part ${index} ${problem}`;
  }
  return undefined;
}

export function findPartProblem(part: unknown): string | undefined {
  if (!isRecord(part)) return `must be an object, got ${describeValue(part)}`;
  const { type, text, mediaType, data, name } = part;
  if (type === "text") {
    return typeof text === "string" ? undefined : `has no text: "text" is ${describeValue(text)}`;
  }
  if (type !== "image" && type !== "file") {
    return `has the type ${describeValue(type)}; expected text, image or file`;
  }
  if (typeof mediaType !== "string" || !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) {
    return `needs a "mediaType" such as image/png, got ${describeValue(mediaType)}`;
  }
  if (type === "image" && !mediaType.startsWith("image/")) {
    return `is an image of type ${quote(mediaType)}; use "file" for what is not an image`;
  }
  if (typeof data !== "string" || data === "") {
    return `needs its bytes as base64 in "data", got ${describeValue(data)}`;
  }
  if (name !== undefined && typeof name !== "string") return `has a name that is ${describeValue(name)}`;
  const bytes = decodedBytes(data);
  if (bytes > MAX_PART_BYTES) {
    return `is ${bytes} bytes; at most ${MAX_PART_BYTES} can be sent. Scale it down or send a part of it`;
  }
  return isBase64(data) ? undefined : `has "data" that is not plain base64`;
}

/** Throws `invalid_argument` unless the value is a string or an array. The parts of an array are not checked. */
export function checkContent(content: Content): void {
  if (typeof content === "string" || Array.isArray(content)) return;
  throw invalidArgument("content", "a string or an array of parts", content);
}

/** The text of a message; parts that are not text are described in brackets. */
export function contentText(content: Content): string {
  checkContent(content);
  return typeof content === "string" ? content : content.map(partText).join("\n");
}

/** About how many tokens a server charges for this content. */
export function contentTokens(content: Content): number {
  if (typeof content === "string") return Math.ceil(content.length / CHARACTERS_PER_TOKEN);
  return content.reduce((sum, part) => sum + partTokens(part), 0);
}

/**
 * Converts content to a form that the provider accepts: an unsupported part becomes a text that describes it, and
 * all-text parts become one string, so a provider without support for parts never receives any. Content that needs no
 * change is returned as is.
 */
export function adaptContent(content: Content, accepts: (mediaType: string) => boolean): Content {
  checkContent(content);
  checkFunction("accepts", accepts);
  if (typeof content === "string") return content;
  const parts = content.map((part): ContentPart => {
    if (part.type === "text" || accepts(part.mediaType)) return part;
    return {
      type: "text",
      text: `${partText(part)} (not shown: this model does not take ${part.mediaType})`,
    };
  });
  if (parts.every((part) => part.type === "text")) return contentText(parts);
  return parts.every((part, index) => part === content[index]) ? content : parts;
}

/** Content with lone surrogates replaced: servers refuse every later request of a conversation that has one. */
export function wellFormed(content: Content): Content {
  if (typeof content === "string") return content.toWellFormed();
  return content.map((part) => {
    if (part.type === "text") return { ...part, text: part.text.toWellFormed() };
    return part.name === undefined ? part : { ...part, name: part.name.toWellFormed() };
  });
}

function partText(part: ContentPart): string {
  if (part.type === "text") return part.text;
  const name = part.name === undefined ? "" : ` ${part.name}`;
  return `[${part.type}${name}, ${part.mediaType}, ${decodedBytes(part.data)} bytes]`;
}

function partTokens(part: ContentPart): number {
  switch (part.type) {
    case "text":
      return Math.ceil(part.text.length / CHARACTERS_PER_TOKEN);
    case "image":
      return IMAGE_TOKENS;
    case "file":
      return Math.ceil(decodedBytes(part.data) / 1024) * FILE_TOKENS_PER_KIB;
  }
}

/** The decoded size of a part in bytes. */
export function partBytes(part: ContentPart): number {
  return part.type === "text" ? part.text.length : decodedBytes(part.data);
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
