import { type ContentPart, contentText, partBytes } from "../../conversation/content.js";
import { arrayOf, checkObject } from "../../toolkit/hostOptions/checks.js";
import type { ChatMessage, ChatRequest } from "../interface.js";
import { type ImageHeader, readImageHeader } from "./imageHeader.js";
import type { Notices } from "./notices.js";

/** What a server takes of images and files. What is left out has no limit. */
export interface MediaLimits {
  /** What one image may weigh, decoded. */
  readonly imageBytes?: number;
  /** What one file may weigh, decoded. */
  readonly fileBytes?: number;
  /** Media types of images that it takes, for those whose bytes are of another one than they say. */
  readonly imageTypes?: RegExp;
  /** The longest side of an image, in pixels. */
  readonly imageSide?: number;
  /** A shorter one for requests with more images than this. */
  readonly crowded?: { readonly images: number; readonly imageSide: number };
  /** How many images a request may hold. */
  readonly images?: number;
  /** What all images and files of a request may weigh, decoded. */
  readonly totalBytes?: number;
}

type MediaPart = Exclude<ContentPart, { readonly type: "text" }>;
type MediaMessage = Extract<ChatMessage, { readonly role: "user" | "tool" }>;

const checkMessages = arrayOf("messages");

// Formats whose header can be read: bytes that have none are refused by every server, in this request and all later ones.
const READABLE = /^image\/(png|jpeg|gif|webp)$/;
// Where a request gets too large, so much more is left out at once: else every further image would change the
// beginning of the next request, which the server then has to read without its cache.
const SHARE_LEFT_OUT = 1 / 4;

/**
 * Replaces the images and files that a server would refuse by words that say why and what to do. The model learns what
 * it does not see, the person is told, and the conversation goes on. Of too many, the oldest are left out.
 */
export class MediaFitter {
  readonly #limits: MediaLimits;
  readonly #notices: Notices;
  // Parts and messages never change, and each request repeats all of them.
  readonly #headers = new WeakMap<MediaPart, ImageHeader | "unreadable">();
  readonly #fitted = new WeakMap<ChatMessage, { readonly of: string; readonly message: ChatMessage }>();

  constructor(limits: MediaLimits, notices: Notices) {
    checkObject("limits", limits);
    checkObject("notices", notices);
    this.#limits = limits;
    this.#notices = notices;
  }

  /** The request with what its server takes; the same one if that is all of it. */
  fit<Request extends Pick<ChatRequest, "messages" | "onNotice">>(request: Request): Request {
    checkObject("request", request);
    checkMessages("request.messages", request.messages);
    if (!request.messages.some(holdsMedia)) return request;
    const parts = request.messages.flatMap(mediaParts);
    const refused = this.#refusals(parts);
    const messages = request.messages.map((message) => this.#fitMessage(message, refused));
    for (const text of refused.values()) this.#notices.say(request, text);
    return { ...request, messages };
  }

  #refusals(parts: readonly MediaPart[]): ReadonlyMap<MediaPart, string> {
    const { images: mostImages = Infinity, totalBytes = Infinity, crowded } = this.#limits;
    const refused = new Map<MediaPart, string>();
    const refuse = (part: MediaPart, problem: string): void => {
      refused.set(part, `${contentText([part])} (not shown: ${problem})`);
    };
    const isCrowded = crowded !== undefined && parts.filter(isImage).length > crowded.images;
    const side = (isCrowded ? crowded.imageSide : this.#limits.imageSide) ?? Infinity;
    for (const part of parts) {
      const problem = this.#problem(part, side);
      if (problem !== undefined) refuse(part, problem);
    }
    const shown = parts.filter((part) => !refused.has(part));
    for (const part of oldest(shown.filter(isImage), () => 1, mostImages)) {
      refuse(part, `the server takes at most ${mostImages} images in a request, and newer ones follow.`);
    }
    for (const part of oldest(
      shown.filter((one) => !refused.has(one)),
      partBytes,
      totalBytes,
    )) {
      refuse(
        part,
        `the server takes at most ${totalBytes} bytes of images and files in a request, and newer ones follow.`,
      );
    }
    return refused;
  }

  /** Why a server would refuse this part, whatever else the request holds. */
  #problem(part: MediaPart, side: number): string | undefined {
    const { imageBytes = Infinity, fileBytes = Infinity } = this.#limits;
    const most = isImage(part) ? imageBytes : fileBytes;
    if (partBytes(part) > most) {
      return `the server takes at most ${most} bytes. Scale it down or send a part of it.`;
    }
    const header = this.#headerOf(part);
    if (header === undefined) return undefined;
    if (header === "unreadable")
      return "its bytes are no image that can be read. Check the file it came from.";
    const { width, height, mediaType } = header;
    if (this.#limits.imageTypes?.test(mediaType) === false) return `this model does not take ${mediaType}.`;
    if (Math.max(width, height) <= side) return undefined;
    return `the server takes images of at most ${side} × ${side} pixels, and this one has ${width} × ${height}. Scale it down or cut it.`;
  }

  #headerOf(part: MediaPart): ImageHeader | "unreadable" | undefined {
    if (!READABLE.test(part.mediaType)) return undefined;
    const header = this.#headers.get(part) ?? readImageHeader(part.data) ?? "unreadable";
    this.#headers.set(part, header);
    return header;
  }

  #fitMessage(message: ChatMessage, refused: ReadonlyMap<MediaPart, string>): ChatMessage {
    if (!holdsMedia(message)) return message;
    const parts = message.content.map((part) => this.#fitPart(part, refused));
    const of = parts.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\0");
    if (parts.every((part, index) => part === message.content[index])) return message;
    // The same object in each request: whoever writes it keeps what it wrote.
    const known = this.#fitted.get(message);
    if (known?.of === of) return known.message;
    const fitted = { ...message, content: parts };
    this.#fitted.set(message, { of, message: fitted });
    return fitted;
  }

  #fitPart(part: ContentPart, refused: ReadonlyMap<MediaPart, string>): ContentPart {
    if (part.type === "text") return part;
    const text = refused.get(part);
    if (text !== undefined) return { type: "text", text };
    const header = this.#headerOf(part);
    if (typeof header !== "object" || header.mediaType === part.mediaType) return part;
    // Servers compare the name of the format with the bytes; file names are often wrong.
    return { ...part, mediaType: header.mediaType };
  }
}

function isImage(part: MediaPart): boolean {
  return part.type === "image";
}

function holdsMedia(
  message: ChatMessage,
): message is MediaMessage & { readonly content: readonly ContentPart[] } {
  const { content } = message;
  return content !== null && typeof content !== "string" && content.some((part) => part.type !== "text");
}

function mediaParts({ content }: ChatMessage): MediaPart[] {
  if (content === null || typeof content === "string") return [];
  return content.filter((part) => part.type !== "text");
}

/** The oldest of the parts, as many as have to go so that what stays fits. */
function oldest(
  parts: readonly MediaPart[],
  weigh: (part: MediaPart) => number,
  most: number,
): readonly MediaPart[] {
  const excess = parts.reduce((sum, part) => sum + weigh(part), 0) - most;
  if (!(excess > 0)) return [];
  const step = Math.max(1, Math.floor(most * SHARE_LEFT_OUT));
  let left = Math.ceil(excess / step) * step;
  let count = 0;
  for (const part of parts) {
    if (left <= 0) break;
    left -= weigh(part);
    count++;
  }
  // The newest is what the question is about: it stays, unless it is too large by itself.
  return parts.slice(0, Math.min(count, parts.length - 1));
}
