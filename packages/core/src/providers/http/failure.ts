import { concatBytes, fromUtf8, isRecord } from "@agent/internal";
import { checkFunction, checkObject, invalidArgument } from "../../toolkit/hostOptions/checks.js";
import { jsonText, parseJson } from "./json.js";
import { AttemptError, retryAfterMs } from "./retry.js";

const MAX_ERROR_BODY_BYTES = 64 * 1024;
// Far more than a message shows after keys were removed, so cutting here is invisible.
const MAX_ERROR_CHARACTERS = 1024 * 1024;
const LONGEST_KEY = 8192;
// Server messages about a conversation that is too long; only OpenAI's own server has a code for it.
const OVERFLOW =
  /context[ _](length|window|size)|maximum (context|prompt)|too many tokens|(prompt|input) is too long|exceeds the maximum number of tokens/i;
const HTML_START = /^\s*(<!--[^>]*-->\s*)*<(!doctype\s+html|html|head|body)\b/i;
const LONGEST_SUMMARY = 200;
const TEMPORARY = /server_error|api_error|overloaded|rate_limit|timeout|unavailable/i;
// The account has no credit left: a retry cannot help.
const QUOTA = "insufficient_quota";
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "x-goog-request-id"];
const REQUEST_ID = /^[\w.:-]{1,200}$/;

/** The fields that an error object of the API, or of a server like it, may have. */
interface ErrorDetails {
  readonly error?: unknown;
  readonly message?: unknown;
  /** Some servers send this instead of `message`. */
  readonly detail?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly details?: unknown;
}

/** What the user can do about a status; with `about`, only for errors whose message matches it. */
export type Hint = string | { readonly about: RegExp; readonly text: string };

/**
 * The error for an answer with a status other than success. `hints` explains what to do about a status: `{ 401: "Check
 * the API key (apiKey, or MY_API_KEY)." }`. `redact` (from `createRedactor`) removes keys before the text is shortened,
 * which could leave half a key.
 */
export async function statusError(
  response: Response,
  hints: Readonly<Record<number, Hint>> = {},
  redact: (text: string) => string = (text) => text,
): Promise<AttemptError> {
  checkResponse(response);
  checkObject("hints", hints);
  checkFunction("redact", redact);
  const { status, headers, body } = response;
  const text = body ? await readStart(body, redact) : "";
  const { error, message } = readError(text, status);
  return new AttemptError(withHint(`${status} ${message || "(no body)"}`, hints[status]), {
    retryable: isTemporary(status) && !isQuota(error),
    overflow: isOverflow(status, error, message),
    retryAfterMs: retryAfterMs(headers) ?? retryInfoMs(error),
    status,
    requestId: requestIdOf(headers),
    cause: `status ${status}`,
  });
}

/** The request's id as OpenAI, Anthropic, Google and most gateways name it. Bounded, since a server may send anything. */
function requestIdOf(headers: Headers): string | undefined {
  const id = REQUEST_ID_HEADERS.map((name) => headers.get(name)).find((value) => value);
  return id && REQUEST_ID.test(id) ? id : undefined;
}

/** Throws `invalid_argument` unless the value is a response of `fetch`. */
export function checkResponse(response: Response): void {
  if (typeof response?.headers?.get !== "function") throw invalidArgument("response", "a Response", response);
}

function withHint(message: string, hint: Hint | undefined): string {
  if (hint === undefined) return message;
  if (typeof hint === "string") return `${message.replace(/\.$/, "")}. ${hint}`;
  return hint.about.test(message) ? withHint(message, hint.text) : message;
}

/** An error inside an answer with status 200, or in the middle of a stream. */
export function bodyError(content: unknown): AttemptError {
  const { error, message } = describeError(content);
  // Gateways put the status they would have sent into "code", as a number or as text.
  const wouldBe = Number(error.status ?? error.code);
  const temporary = wouldBe >= 100 ? isTemporary(wouldBe) : TEMPORARY.test(`${error.code} ${error.type}`);
  return new AttemptError(message || "the server reports an error and does not say which", {
    retryable: temporary && !isQuota(error),
    overflow: isOverflow(wouldBe >= 100 ? wouldBe : 400, error, message),
    retryAfterMs: retryInfoMs(error),
    status: wouldBe >= 100 && wouldBe < 600 ? wouldBe : undefined,
  });
}

/** The beginning of an error's body: long enough for any explanation. */
async function readStart(
  body: ReadableStream<Uint8Array>,
  redact: (text: string) => string,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size > MAX_ERROR_BODY_BYTES) break;
    }
  } catch {
    // A body that breaks off is not a separate failure: the status is the error.
  }
  const text = redact(fromUtf8(concatBytes(parts).subarray(0, MAX_ERROR_BODY_BYTES)));
  return size > MAX_ERROR_BODY_BYTES ? withoutLastWord(text) : text;
}

/** A truncated text without its last word: it may be the beginning of a key, which no redactor recognises. */
function withoutLastWord(cut: string): string {
  const end = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"), cut.length - LONGEST_KEY);
  return cut.slice(0, Math.max(0, end));
}

/** The explanation in a body: the API's `error`, another server's `message` or `detail`, or the text itself. */
function readError(text: string, status: number): { error: ErrorDetails; message: string } {
  try {
    const parsed = parseJson(text);
    // Google answers a failed stream with an array of one error.
    const data = (Array.isArray(parsed) ? parsed[0] : parsed) as ErrorDetails | null | undefined;
    return describeError(data?.error ?? data);
  } catch {
    return { error: {}, message: HTML_START.test(text) ? pageSummary(text, status) : text };
  }
}

/**
 * The text of a proxy's or gateway's HTML page on one line: its title, its heading, or its words, without the status.
 */
function pageSummary(html: string, status: number): string {
  const texts = pageTexts(html);
  const titled = texts.find(({ tag, text }) => /^(title|h1)$/.test(tag) && text.trim() !== "")?.text;
  const words = titled ?? texts.map(({ text }) => text).join(" ");
  const line = words.replace(/\s+/g, " ").trim();
  const said = line.startsWith(`${status} `) ? line.slice(`${status} `.length) : line;
  return `${said.slice(0, LONGEST_SUMMARY)} (an HTML page, not an answer of the API)`.trim();
}

/** The texts of a page with the tag before each, without styles and scripts. One pass, whatever a hostile server sends. */
function pageTexts(html: string): { readonly tag: string; readonly text: string }[] {
  const texts: { tag: string; text: string }[] = [];
  let unread: string | undefined;
  for (const piece of html.split("<").slice(1)) {
    const end = piece.indexOf(">");
    const tag = /^\/?\w*/.exec(piece)?.[0].toLowerCase() ?? "";
    if (unread !== undefined && tag !== `/${unread}`) continue;
    unread = /^(style|script)$/.test(tag) ? tag : undefined;
    if (end !== -1 && unread === undefined) texts.push({ tag, text: piece.slice(end + 1) });
  }
  return texts;
}

function describeError(content: unknown): { error: ErrorDetails; message: string } {
  const error: ErrorDetails = isRecord(content) ? content : {};
  const message = error.message ?? error.detail ?? content;
  const text = typeof message === "string" ? message : jsonText(message);
  return { error, message: text.slice(0, MAX_ERROR_CHARACTERS) };
}

/** Google's errors include the retry delay: `{ "@type": "…RetryInfo", "retryDelay": "34s" }`. */
function retryInfoMs({ details }: ErrorDetails): number | undefined {
  const delays = Array.isArray(details) ? details.map((detail) => detail?.retryDelay) : [];
  const delay = delays.find((value) => typeof value === "string" && /^[\d.]+s$/.test(value));
  const seconds = Number.parseFloat(delay ?? "");
  return seconds >= 0 ? seconds * 1000 : undefined;
}

function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}

function isQuota({ code, type }: ErrorDetails): boolean {
  return code === QUOTA || type === QUOTA;
}

function isOverflow(status: number, { code }: ErrorDetails, message: string): boolean {
  if (code === "context_length_exceeded" || status === 413) return true;
  // A rate limit mentions tokens too, but tokens per minute.
  return status !== 429 && status < 500 && OVERFLOW.test(message);
}
