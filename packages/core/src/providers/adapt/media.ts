import { type ContentPart, contentText, partBytes } from "../../conversation/content.js";
import { arrayOf, checkObject } from "../../toolkit/hostOptions/checks.js";
import type { ChatMessage, ChatRequest } from "../interface.js";
import type { Notices } from "./notices.js";

/** The images and files a server accepts. An absent limit means there is none. */
export interface MediaLimits {
  /** The maximum decoded size of one image. */
  readonly imageBytes?: number;
  /** The maximum decoded size of one file. */
  readonly fileBytes?: number;
  /**
   * The accepted media types of images, compared with the type detected from the bytes: a file name may claim another
   * one.
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
 * Replaces images and files that a server would refuse with a text that explains why and what to do, so that the
 * conversation can continue. The model reads the text and the user gets a notice. If there are too many, the oldest are
 * replaced.
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

  /** The request with only the parts its server accepts; the same object if nothing changes. */
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

  /** Why a server would refuse this part, independent of the rest of the request. */
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
  // The newest part is what the question is about: it stays, unless it is too large by itself.
  return parts.slice(0, Math.min(count, parts.length - 1));
}

/** The format and size that the first bytes of an image give. */
interface ImageHeader {
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

// The size is in the first bytes, except in a JPEG, where it follows metadata of any length.
const SHORT_HEADER_BYTES = 64;

const JPEG_HEADER_BYTES = 1024 * 1024;

/** The header of a PNG, JPEG, GIF or WebP image in base64; `undefined` for bytes that are none of them. */
export function readImageHeader(data: string): ImageHeader | undefined {
  const bytes = decodeStart(data, SHORT_HEADER_BYTES);
  if (bytes === undefined) return undefined;
  if (startsWith(bytes, JPEG)) return jpegHeader(decodeStart(data, JPEG_HEADER_BYTES) ?? bytes);
  const header = pngHeader(bytes) ?? gifHeader(bytes) ?? webpHeader(bytes);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

const PNG = "\x89PNG\r\n\x1a\n";

const JPEG = "\xff\xd8\xff";

function pngHeader(bytes: DataView): ImageHeader | undefined {
  if (!startsWith(bytes, PNG) || bytes.byteLength < 24 || !startsWith(bytes, "IHDR", 12)) return undefined;
  return { mediaType: "image/png", width: bytes.getUint32(16), height: bytes.getUint32(20) };
}

function gifHeader(bytes: DataView): ImageHeader | undefined {
  if (!(startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) || bytes.byteLength < 10)
    return undefined;
  return { mediaType: "image/gif", width: bytes.getUint16(6, true), height: bytes.getUint16(8, true) };
}

function webpHeader(bytes: DataView): ImageHeader | undefined {
  if (!startsWith(bytes, "RIFF") || !startsWith(bytes, "WEBP", 8) || bytes.byteLength < 30) return undefined;
  const mediaType = "image/webp";
  const uint24 = (offset: number): number =>
    bytes.getUint16(offset, true) + (bytes.getUint8(offset + 2) << 16);
  if (startsWith(bytes, "VP8X", 12)) return { mediaType, width: uint24(24) + 1, height: uint24(27) + 1 };
  if (startsWith(bytes, "VP8L", 12)) {
    const bits = bytes.getUint32(21, true);
    return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!startsWith(bytes, "VP8 ", 12)) return undefined;
  return { mediaType, width: bytes.getUint16(26, true) & 0x3fff, height: bytes.getUint16(28, true) & 0x3fff };
}

/** Skips from segment to segment to the one with the size. */
function jpegHeader(bytes: DataView): ImageHeader | undefined {
  let offset = 2;
  while (offset + 9 <= bytes.byteLength) {
    if (bytes.getUint8(offset) !== 0xff) return undefined;
    const marker = bytes.getUint8(offset + 1);
    if (marker === 0xff) offset++;
    else if (isFrame(marker)) {
      const [height, width] = [bytes.getUint16(offset + 5), bytes.getUint16(offset + 7)];
      return width > 0 && height > 0 ? { mediaType: "image/jpeg", width, height } : undefined;
    } else offset += 2 + Math.max(2, bytes.getUint16(offset + 2));
  }
  return undefined;
}

/** Whether a marker starts a frame (SOF0–SOF15). Three codes in that range are something else: DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function startsWith(bytes: DataView, text: string, offset = 0): boolean {
  if (bytes.byteLength < offset + text.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes.getUint8(offset + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}

function decodeStart(data: string, size: number): DataView | undefined {
  try {
    const text = atob(data.slice(0, Math.ceil(size / 3) * 4));
    return new DataView(Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer);
  } catch {
    return undefined;
  }
}
