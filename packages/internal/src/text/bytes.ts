const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text as UTF-8. */
export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8. A byte order mark is kept. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The number of UTF-8 bytes of a text. */
export function utf8Length(text: string): number {
  // Node counts without encoding; other runtimes may have no Buffer.
  return globalThis.Buffer?.byteLength(text) ?? encoder.encode(text).length;
}

export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
