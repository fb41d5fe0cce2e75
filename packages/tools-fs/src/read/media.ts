import type { ContentPart } from "@agent/core";
import { countOf } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import { hasSignature } from "./fileType.js";

/** Media types besides text that models accept, with their signatures (as latin1 text, "?" for any byte). */
const MEDIA = {
  "image/png": { signature: "\x89PNG\r\n\x1a\n", noun: "PNG image" },
  "image/jpeg": { signature: "\xff\xd8\xff", noun: "JPEG image" },
  "image/gif": { signature: "GIF8?a", noun: "GIF image" },
  "image/webp": { signature: "RIFF????WEBP", noun: "WebP image" },
  "application/pdf": { signature: "%PDF-", noun: "PDF document" },
} as const;

export type MediaType = keyof typeof MEDIA;

// The strictest of the large servers accepts 5 MiB of base64 and 8000 pixels per side. A larger picture would make it
// refuse this request and all later ones.
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const MAX_PIXELS_A_SIDE = 8000;
const MAX_PDF_BYTES = 10 * 1024 * 1024;
// The maximum distance of a PDF's end marker from its end.
const PDF_END_BYTES = 1024;

/** The media type of a file by its signature, if models accept that type. */
export function mediaTypeOf(head: Buffer): MediaType | undefined {
  const start = head.toString("latin1", 0, 16);
  const types = Object.keys(MEDIA) as MediaType[];
  return types.find((type) => hasSignature(start, MEDIA[type].signature));
}

/** The maximum size of an attached file of this type. */
export function maxMediaBytes(type: MediaType): number {
  return type === "application/pdf" ? MAX_PDF_BYTES : MAX_IMAGE_BYTES;
}

/** The content part for the model and a text that describes it; without a part, the text explains why. */
export interface Media {
  readonly part?: ContentPart;
  readonly text: string;
}

/** Prepares a whole file of this type for a model. */
export function toMedia(path: string, type: MediaType, bytes: Buffer): Media {
  const noun = MEDIA[type].noun;
  const isPdf = type === "application/pdf";
  const size = isPdf ? undefined : imageSize(bytes, type);
  const problem = isPdf ? findPdfProblem(bytes) : findImageProblem(size);
  if (problem !== undefined) return { text: refusal(path, type, bytes.length, problem) };
  const pixels = size === undefined ? "" : `${size.width} × ${size.height} pixels, `;
  return {
    part: {
      type: isPdf ? "file" : "image",
      mediaType: type,
      data: bytes.toString("base64"),
      name: showPath(path),
    },
    text: `[${showPath(path)} is a ${noun} (${pixels}${countOf(bytes.length, "byte")}). It is attached to this result.]`,
  };
}

/** The message for a file of this type that is too large to be attached. */
export function tooLargeNotice(path: string, type: MediaType, size: number): string {
  return refusal(path, type, size, `is larger than ${maxMediaBytes(type)} bytes`);
}

function refusal(path: string, type: MediaType, size: number, problem: string): string {
  const noun = MEDIA[type].noun;
  return `[${showPath(path)} is a binary file (${noun}, ${countOf(size, "byte")}) and is not shown, because it ${problem}. Pass "encoding": "base64" to read its bytes.]`;
}

function findImageProblem(size: ReturnType<typeof imageSize>): string | undefined {
  if (size === undefined) return "is damaged or cut off";
  const { width, height } = size;
  if (Math.max(width, height) <= MAX_PIXELS_A_SIDE) return undefined;
  return `has ${width} × ${height} pixels, and servers take at most ${MAX_PIXELS_A_SIDE} a side`;
}

function findPdfProblem(bytes: Buffer): string | undefined {
  if (!bytes.subarray(-PDF_END_BYTES).includes("%%EOF")) return "is damaged or cut off";
  // Servers refuse a document that needs a password.
  return bytes.includes("/Encrypt") ? "is encrypted" : undefined;
}

/** Width and height of a picture in pixels. */
interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a picture from its header; `undefined` if the file is damaged or truncated. Servers refuse a
 * request with a damaged picture, and every later request of the conversation repeats it, so such a picture must not be
 * attached.
 */
function imageSize(bytes: Buffer, mediaType: MediaType): ImageSize | undefined {
  const size = readSize(bytes, mediaType);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function readSize(bytes: Buffer, mediaType: MediaType): ImageSize | undefined {
  switch (mediaType) {
    case "image/png":
      return pngSize(bytes);
    case "image/jpeg":
      return jpegSize(bytes);
    case "image/gif":
      return gifSize(bytes);
    case "image/webp":
      return webpSize(bytes);
    default:
      return undefined;
  }
}

const PNG_HEADER_BYTES = 8;

// The length, type and checksum fields of a chunk, without its data.
const PNG_CHUNK_BYTES = 12;

function pngSize(bytes: Buffer): ImageSize | undefined {
  let size: ImageSize | undefined;
  let hasData = false;
  for (let at = PNG_HEADER_BYTES; at + PNG_CHUNK_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IEND") return hasData ? size : undefined;
    if (at + PNG_CHUNK_BYTES + length > bytes.length) return undefined;
    if (type === "IHDR" && length >= 8) {
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    hasData ||= type === "IDAT";
    at += PNG_CHUNK_BYTES + length;
  }
  return undefined;
}

const JPEG_END = Buffer.from([0xff, 0xd9]);

const JPEG_SCAN = 0xda;

// Start-of-frame markers are C0 to CF, except the three that define tables.
const NOT_A_FRAME: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

function jpegSize(bytes: Buffer): ImageSize | undefined {
  let size: ImageSize | undefined;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    // A marker may be preceded by any number of fill bytes.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === JPEG_SCAN) return bytes.includes(JPEG_END, at) ? size : undefined;
    if (marker >= 0xc0 && marker <= 0xcf && !NOT_A_FRAME.has(marker)) {
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

const GIF_END = 0x3b;

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 14 || !bytes.includes(GIF_END, 13)) return undefined;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
