import type { ContentPart } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import { withoutInvisible } from "../invisible.js";
import type { PageAnswer } from "../network/request.js";

/** A page as a model can read it. */
export interface Page {
  readonly text: string;
  /** The start of the header that is a media type: the header could be any text. Empty if there is none. */
  readonly mediaType: string;
  /** A picture or a document in place of text. */
  readonly part?: ContentPart;
  /** Notes about what was omitted or is unusual: sentences for the end of a result. */
  readonly notes: readonly string[];
  /** The links to other pages of the same host. */
  readonly links: readonly string[];
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i;
const TEXT =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml)\b|application\/(?:x-)?(?:javascript|ecmascript|typescript|sh|sql|ndjson|yaml|tex|httpd-php|json5|jsonlines|graphql|rtf)\b|image\/svg\+xml)/i;
const UNKNOWN =
  /^(?:application\/octet-stream|binary\/octet-stream|application\/x-download|application\/force-download|unknown\/unknown)?$/i;
const LOOKS_HTML = /^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype\s+html|html|head|body)\b/i;
const NEEDS_SCRIPT =
  /\b(?:enable|requires?|turn on|activate|needs?)\s+(?:\w+\s+){0,3}javascript|javascript\s+(?:is\s+)?(?:disabled|required)/i;
const FEW_CHARACTERS = 100;
const SHORT_PAGE = 1600;
// Some servers separate the charset with a blank or a comma.
const MEDIA_TYPE = /^\s*([a-z0-9][\w.+-]{0,60}\/[\w.+-]{1,80})(?=$|[\s,;])/i;
/** The maximum distance of a PDF's end marker from its end. */
const PDF_END_BYTES = 1024;

const SIGNATURES: readonly (readonly [mediaType: string, test: (body: Buffer) => boolean])[] = [
  ["application/pdf", (body) => body.subarray(0, 1024).includes("%PDF-")],
  ["image/png", (body) => body.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["image/jpeg", (body) => body.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["image/gif", (body) => body.subarray(0, 4).toString("latin1") === "GIF8"],
  [
    "image/webp",
    (body) => body.toString("latin1", 0, 4) === "RIFF" && body.toString("latin1", 8, 12) === "WEBP",
  ],
];

/** Converts an answer to a page by its type. Throws an `Error` for the model if there is nothing it could read. */
export async function readPage(answer: PageAnswer, signal: AbortSignal): Promise<Page> {
  const { body, headers, url, cut } = answer;
  const type = headers["content-type"] ?? "";
  const mediaType = MEDIA_TYPE.exec(type)?.[1]?.toLowerCase() ?? "";
  if (body.length === 0) return { text: "", mediaType, notes: ["The answer has no body."], links: [] };
  const isText = TEXT.test(mediaType);
  const attached = isText ? undefined : SIGNATURES.find(([, test]) => test(body))?.[0];
  if (attached !== undefined) return { mediaType, ...attach(answer, attached) };
  if (!isText && !HTML.test(mediaType) && !UNKNOWN.test(mediaType)) {
    throw new Error(
      `The answer is ${quote(mediaType)} (${body.length}${cut === undefined ? "" : " or more"} bytes), which cannot be shown as text.`,
    );
  }
  const { text, encoding, invalid } = decodeBody(body, type, cut !== undefined);
  const notes = invalid > 0 ? [`${characters(invalid)} could not be decoded as ${encoding}.`] : [];
  // UTF-16 without a declaration, and binary files: text contains no NUL.
  if (text.slice(0, 4096).includes("\0")) {
    throw new Error(
      `The answer says that it is ${quote(mediaType || "nothing particular")}, but it is binary data.`,
    );
  }
  const isHtml = HTML.test(mediaType) || (UNKNOWN.test(mediaType) && LOOKS_HTML.test(text.slice(0, 2048)));
  if (!isHtml) return { mediaType, ...plainPage(text, notes) };
  const { htmlPage } = await import("./htmlPage.js");
  const page = await htmlPage(text, url, signal);
  const clean = visible(page.text);
  if (page.scripts > 0 && page.visible < FEW_CHARACTERS) {
    notes.push("The page has scripts and almost no text: it probably needs a browser. No script was run.");
  } else if (NEEDS_SCRIPT.test(page.noscript) && page.visible < SHORT_PAGE) {
    notes.push("The page asks for JavaScript. No script was run, so parts of it may be missing.");
  }
  return { text: clean.text, mediaType, notes: [...page.notes, ...notes, ...clean.notes], links: page.links };
}

function plainPage(text: string, notes: readonly string[]): Omit<Page, "mediaType"> {
  const clean = visible(text.replace(/\r\n?/g, "\n"));
  return { text: clean.text, notes: [...notes, ...clean.notes], links: [] };
}

function visible(text: string): { readonly text: string; readonly notes: readonly string[] } {
  const clean = withoutInvisible(text);
  const notes =
    clean.removed > 0
      ? [`${characters(clean.removed, "invisible ")} ${clean.removed === 1 ? "was" : "were"} removed.`]
      : [];
  return { text: clean.text, notes };
}

function characters(count: number, kind = ""): string {
  return `${count} ${kind}character${count === 1 ? "" : "s"}`;
}

function attach({ body, url, cut }: PageAnswer, mediaType: string): Omit<Page, "mediaType"> {
  if (cut !== undefined) {
    throw new Error(
      `The answer is ${mediaType}, and only its first ${body.length} bytes were read (${cut === "size" ? "the size limit" : "the transfer ended early"}). A part of it cannot be shown.`,
    );
  }
  // Servers refuse a request with such a document, and every later request of the conversation repeats it.
  const problem = mediaType === "application/pdf" ? pdfProblem(body) : undefined;
  if (problem !== undefined) throw new Error(`The answer is a PDF that ${problem}, so it cannot be shown.`);
  const name = decodeURIComponentSafely(url.pathname.split("/").at(-1) ?? "") || url.hostname;
  const part: ContentPart = {
    type: mediaType.startsWith("image/") ? "image" : "file",
    mediaType,
    data: body.toString("base64"),
    name,
  };
  return {
    text: `[${part.type} ${name}, ${mediaType}, ${body.length} bytes: attached]`,
    part,
    notes: [],
    links: [],
  };
}

function pdfProblem(body: Buffer): string | undefined {
  if (!body.subarray(-PDF_END_BYTES).includes("%%EOF")) return "is damaged or cut off";
  return body.includes("/Encrypt") ? "is encrypted" : undefined;
}

function decodeURIComponentSafely(text: string): string {
  try {
    return visible(decodeURIComponent(text)).text.replace(/\s+/g, " ").slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

const PRESCAN_BYTES = 1024;

const META_CHARSET = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i;

const XML_ENCODING = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)/i;

interface Decoded {
  readonly text: string;
  readonly encoding: string;
  /** The number of replacement characters for bytes that are invalid in this encoding. */
  readonly invalid: number;
}

/**
 * Decodes a body like browsers: by its byte order mark, then by the header, then by a declaration at its start. Without
 * any of them it is UTF-8 if it is valid UTF-8, else Windows-1252. `isCut`: the end may be half a character.
 */
function decodeBody(body: Uint8Array, contentType: string, isCut: boolean): Decoded {
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

/** The name of a supported encoding. An unknown label counts as absent. */
function decoderLabel(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** A declaration that is readable as ASCII is not UTF-16; the HTML standard treats it as UTF-8. */
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
