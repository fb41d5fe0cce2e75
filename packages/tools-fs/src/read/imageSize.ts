import type { MediaType } from "./media.js";

/** Width and height of a picture in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a picture from its header; `undefined` if the file is damaged or cut off. Servers refuse a request
 * with a damaged picture, and every later request of the conversation repeats it: such a picture must not be attached.
 */
export function imageSize(bytes: Buffer, mediaType: MediaType): ImageSize | undefined {
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
