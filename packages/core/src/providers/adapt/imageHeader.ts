/** The format and size that the first bytes of an image give. */
export interface ImageHeader {
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
}

// The size is in the first bytes; in a JPEG it follows metadata of any length that cameras and programs wrote.
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

/** Goes from segment to segment until the one with the size. */
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
