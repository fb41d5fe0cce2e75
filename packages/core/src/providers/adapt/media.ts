import { type ContentPart, contentText, partBytes } from "../../conversation/content.js";
import { arrayOf, checkObject } from "../../toolkit/hostOptions/checks.js";
import type { ChatMessage, ChatRequest } from "../interface.js";
import { type ImageHeader, readImageHeader } from "./imageHeader.js";
import type { Notices } from "./notices.js";

/** The images and files a server takes. An absent limit means there is none. */
export interface MediaLimits {
  /** The maximum decoded size of one image. */
  readonly imageBytes?: number;
  /** The maximum decoded size of one file. */
  readonly fileBytes?: number;
  /**
   * The media types of images it takes, compared with the type that the bytes show: a file name may say another one.
   */
  readonly imageTypes?: RegExp;
  /** The maximum length of an image's longer side, in pixels. */
  readonly imageSide?: number;
  /** A lower `imageSide` for requests with more than `images` images. */
  readonly crowded?: { readonly images: number; readonly imageSide: number };
  /** How many images a request may hold. */
  readonly images?: number;
  /** The maximum decoded size of all images and files of a request together. */
  readonly totalBytes?: number;
}

type MediaPart = Exclude<ContentPart, { readonly type: "text" }>;
type MediaMessage = Extract<ChatMessage, { readonly role: "user" | "tool" }>;

const checkMessages = arrayOf("messages");

// Formats whose header we can read. If an image of these formats has no valid header, every server refuses it, in this
// request and all later ones.
const READABLE = /^image\/(png|jpeg|gif|webp)$/;
// When a request gets too large, this share of the limit is freed in one step. Freeing just enough would change the
// beginning of the request with every further image, and the server's prompt cache would never hit.
const SHARE_LEFT_OUT = 1 / 4;

/**
 * Replaces the images and files that a server would refuse by a text that says why and what to do, so that the
 * conversation can continue. The model reads the text and the user gets a notice. If there are too many, the oldest go.
 */
export class MediaFitter {
  readonly #limits: MediaLimits;
  readonly #notices: Notices;
  // Caches: parts and messages never change, and each request repeats all of them.
  readonly #headers = new WeakMap<MediaPart, ImageHeader | "unreadable">();
  readonly #fitted = new WeakMap<ChatMessage, { readonly of: string; readonly message: ChatMessage }>();

  constructor(limits: MediaLimits, notices: Notices) {
    checkObject("limits", limits);
    checkObject("notices", notices);
    this.#limits = limits;
    this.#notices = notices;
  }

  /** The request with only the parts its server takes; the same object if that is all of them. */
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
      return "its bytes are not an image that can be read. Check the file it came from.";
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
    // Return the same object for each request: `JsonTexts` keeps the text of a message by its object.
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

/** The oldest parts: as many as must be left out so that the others fit. */
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
