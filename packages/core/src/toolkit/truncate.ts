/** The number of bytes of `bytes` up to `limit` that end on a character border. */
export function utf8Boundary(bytes: Uint8Array, limit: number): number {
  if (limit >= bytes.length) return bytes.length;
  const last = Math.max(0, limit);
  // A continuation byte is 10xxxxxx: step back to the byte that starts the character. No character has more
  // than three of them; a longer run is not text, and cutting it anywhere harms nothing.
  for (let end = last; end >= Math.max(0, last - 3); end--) {
    if (((bytes[end] ?? 0) & 0xc0) !== 0x80) return end;
  }
  return last;
}

/** The longest start of `text` within `maxBytes` of UTF-8, never cut inside a character. */
export function truncateUtf8(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most 3 bytes of UTF-8: most texts need no encoding at all.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes), "utf8");
  return bytes.toString("utf8", 0, utf8Boundary(bytes, maxBytes));
}

/** The longest end of `text` within `maxBytes` of UTF-8, never cut inside a character. */
export function truncateUtf8Start(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  if (maxBytes <= 0) return "";
  const bytes = Buffer.from(text.slice(-maxBytes), "utf8");
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}

/**
 * Shortens `text` to about `maxBytes`, keeping its start and its end with a notice between them that gives
 * the full size. A text within the limit comes back as it is.
 */
export function truncateMiddle(text: string, maxBytes: number, hint = "Ask for less at a time."): string {
  const size = utf8Size(text, maxBytes);
  if (size <= maxBytes) return text;
  const head = truncateUtf8(text, Math.ceil(maxBytes * 0.75));
  const tail = truncateUtf8Start(text, Math.floor(maxBytes * 0.25));
  const cut = size - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}\n[… truncated: ${cut} of ${size} bytes left out here. ${hint}]\n${tail}`;
}

function utf8Size(text: string, enough: number): number {
  return text.length * 3 <= enough ? text.length : Buffer.byteLength(text);
}
