import type { ContentPart } from "@agent/core";
import { countOf } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import { hasSignature } from "./fileType.js";
import { imageSize } from "./imageSize.js";

/** Media types besides text that models take, with their first bytes (as latin1 text, "?" for any byte). */
const MEDIA = {
  "image/png": { signature: "\x89PNG\r\n\x1a\n", noun: "PNG image" },
  "image/jpeg": { signature: "\xff\xd8\xff", noun: "JPEG image" },
  "image/gif": { signature: "GIF8?a", noun: "GIF image" },
  "image/webp": { signature: "RIFF????WEBP", noun: "WebP image" },
  "application/pdf": { signature: "%PDF-", noun: "PDF document" },
} as const;

export type MediaType = keyof typeof MEDIA;

// The strictest of the large servers takes 5 MiB of base64 and 8000 pixels a side. A larger picture would make it
// refuse this request and all that follow.
const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
const MAX_PIXELS_A_SIDE = 8000;
const MAX_PDF_BYTES = 10 * 1024 * 1024;
// How far from the end of a PDF its end marker may stand.
const PDF_END_BYTES = 1024;

/** The media type of a file by its first bytes, if models take that type. */
export function mediaTypeOf(head: Buffer): MediaType | undefined {
  const start = head.toString("latin1", 0, 16);
  const types = Object.keys(MEDIA) as MediaType[];
  return types.find((type) => hasSignature(start, MEDIA[type].signature));
}

/** The most bytes that a file of this type may have to be attached. */
export function maxMediaBytes(type: MediaType): number {
  return type === "application/pdf" ? MAX_PDF_BYTES : MAX_IMAGE_BYTES;
}

/** The content part for the model and a text that describes it; without a part, the text says why. */
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

/** Says that a file of this type is too large to be shown. */
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
