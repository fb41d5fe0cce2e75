/** The signatures of common binary formats (as latin1 text, "?" for any byte) and their names. */
const SIGNATURES: readonly (readonly [signature: string, type: string, at?: number])[] = [
  ["\xff\xfe\0\0", "UTF-32 text, little-endian: convert it to UTF-8 to read it"],
  ["\0\0\xfe\xff", "UTF-32 text, big-endian: convert it to UTF-8 to read it"],
  ["\x89PNG\r\n\x1a\n", "PNG image"],
  ["\xff\xd8\xff", "JPEG image"],
  ["GIF87a", "GIF image"],
  ["GIF89a", "GIF image"],
  ["RIFF????WEBP", "WebP image"],
  ["RIFF????WAVE", "WAV audio"],
  ["\0\0\x01\0", "icon"],
  ["BM", "bitmap image"],
  ["II*\0", "TIFF image"],
  ["MM\0*", "TIFF image"],
  ["%PDF-", "PDF document"],
  ["PK\x03\x04", "ZIP archive (also docx, xlsx, jar)"],
  ["PK\x05\x06", "empty ZIP archive"],
  ["\x1f\x8b", "gzip data"],
  ["BZh", "bzip2 data"],
  ["\xfd7zXZ\0", "xz data"],
  ["\x28\xb5\x2f\xfd", "zstd data"],
  ["7z\xbc\xaf\x27\x1c", "7-Zip archive"],
  ["ustar", "tar archive", 257],
  ["\x7fELF", "ELF program or library"],
  ["MZ", "Windows program"],
  ["\xcf\xfa\xed\xfe", "Mach-O program"],
  ["\xca\xfe\xba\xbe", "Java class or Mach-O program"],
  ["\0asm", "WebAssembly module"],
  ["SQLite format 3\0", "SQLite database"],
  ["ftyp", "MP4 or similar media", 4],
  ["ID3", "MP3 audio"],
  ["OggS", "Ogg media"],
  ["fLaC", "FLAC audio"],
  ["\x1aE\xdf\xa3", "Matroska or WebM video"],
  ["wOFF", "web font"],
  ["wOF2", "web font"],
  ["!<arch>\n", "static library or Debian package"],
];

/** Names the type of a binary file by its first bytes. */
export function binaryType(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 512)).toString("latin1");
  const found = SIGNATURES.find(([signature, , at = 0]) => hasSignature(text, signature, at));
  return found?.[1] ?? "unknown type";
}

/** Whether `text`, bytes as latin1, starts with the signature; "?" matches any byte. */
export function hasSignature(text: string, signature: string, at = 0): boolean {
  return [...signature].every((byte, index) => byte === "?" || text[at + index] === byte);
}
