const PRESCAN_BYTES = 1024;
const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i;
const XML_ENCODING = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)/i;

export interface Decoded {
  readonly text: string;
  readonly encoding: string;
  /** The number of characters that stand for bytes that are not valid in this encoding. */
  readonly invalid: number;
}

/**
 * Decodes a body as browsers do: by its byte order mark, then by the header, then by what its start declares. Without
 * any of them it is UTF-8 if it is valid UTF-8, else Windows-1252. `isCut`: the end may be half a character.
 */
export function decodeBody(body: Uint8Array, contentType: string, isCut: boolean): Decoded {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, PRESCAN_BYTES)).toString(
    "latin1",
  );
  const declared =
    byteOrderMark(body) ??
    decoderLabel(/charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(contentType)?.[1]) ??
    withoutUtf16(decoderLabel(META_CHARSET.exec(start)?.[1] ?? XML_ENCODING.exec(start)?.[1]));
  const encoding = declared ?? (isUtf8(body, isCut) ? "utf-8" : "windows-1252");
  const text = new TextDecoder(encoding).decode(body, { stream: isCut });
  return { text, encoding, invalid: encoding === "windows-1252" ? 0 : countReplacements(text) };
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** The name of an encoding that can be decoded. A label that no one knows counts as absent. */
function decoderLabel(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** A declaration that could be read as ASCII is not UTF-16; the HTML standard takes it as UTF-8. */
function withoutUtf16(encoding: string | undefined): string | undefined {
  return encoding?.startsWith("utf-16") ? "utf-8" : encoding;
}

function isUtf8(body: Uint8Array, isCut: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: isCut });
    return true;
  } catch {
    return false;
  }
}

function countReplacements(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\ufffd"); at !== -1; at = text.indexOf("\ufffd", at + 1)) count++;
  return count;
}
