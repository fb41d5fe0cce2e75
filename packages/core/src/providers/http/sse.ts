import { concatBytes } from "@agent/internal";
import { checkFunction, invalidArgument } from "../../toolkit/hostOptions/checks.js";
import { AttemptError } from "./retry.js";

const END_MARK = "[DONE]";
const SPACE = 0x20;
const UTF8 = new TextDecoder();
// Far beyond any answer, even though each word in a stream has some hundred bytes of overhead.
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const MAX_EVENTS = 1_000_000;
// The maximum number of consecutive comments, blank lines and empty events: servers send some to keep a connection
// alive.
const MAX_IDLE_CHARACTERS = 1024 * 1024;
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
// The maximum size of one event, or of a whole answer sent instead of events. Each line counts some extra characters.
const MAX_EVENT_CHARACTERS = MAX_TEXT_BYTES;
const LINE_OVERHEAD = 16;
const LONGEST_START = "data: ".length;
// How long to continue reading after the end marker. A connection that closes properly within this time can be reused.
const END_GRACE_MS = 100;

/**
 * Reads server-sent events and passes on the data of each; calls `onBytes` after each read. Resolves to whether the end
 * marker arrived; anything after it is ignored. Supports every line ending, comments, and characters split between two
 * reads. A body that begins like a JSON object or an HTML page is treated as one complete event: the whole answer of a
 * server that does not stream.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onData: (data: string) => void,
  onBytes: (isData: boolean) => void,
): Promise<boolean> {
  checkBody(body);
  checkFunction("onData", onData);
  checkFunction("onBytes", onBytes);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events = new EventParser(onData);
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size = checkedSize(reader, size + value.byteLength, MAX_STREAM_BYTES);
      if (timer) continue;
      onBytes(events.add(decoder.decode(value, { stream: true })));
      if (events.isEnded) timer = setTimeout(() => cancel(reader), END_GRACE_MS);
    }
    if (!timer) events.finish(decoder.decode());
    return events.isEnded;
  } catch (error) {
    // The answer was complete, so it does not matter how the connection ended.
    if (timer) return true;
    cancel(reader);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a whole body as text. Unlike `Response.text`, it reports every read. */
export async function readText(
  body: ReadableStream<Uint8Array>,
  onBytes: (isData: boolean) => void,
): Promise<string> {
  checkBody(body);
  checkFunction("onBytes", onBytes);
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    onBytes(value.some((byte) => byte > SPACE));
    size = checkedSize(reader, size + value.byteLength, MAX_TEXT_BYTES);
    pieces.push(value);
  }
  return UTF8.decode(pieces.length === 1 ? pieces[0] : concatBytes(pieces));
}

function checkBody(body: ReadableStream<Uint8Array>): void {
  if (typeof body?.getReader !== "function") throw invalidArgument("body", "a ReadableStream", body);
}

function checkedSize(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  size: number,
  maxBytes: number,
): number {
  if (size <= maxBytes) return size;
  cancel(reader);
  throw tooLarge(`more than ${maxBytes} bytes`);
}

function tooLarge(size: string): AttemptError {
  return new AttemptError(`the answer has ${size}`, { retryable: false });
}

function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => undefined);
}

/** Splits text into lines and events, and passes on the data of each event. */
class EventParser {
  readonly #onData: (data: string) => void;
  #line = "";
  #endsInReturn = false;
  // The data lines of the current event so far; `undefined` before the first one.
  #data: string | undefined;
  #dataSize = 0;
  #isData = false;
  // The beginning of `#line`. Stored separately because slicing a long concatenated string copies all of it.
  #lineStart = "";
  #begun = false;
  // Whether the body is one JSON or HTML text instead of a stream. The first character decides: content types are often
  // wrong.
  #isWhole = false;
  #isEnded = false;
  #count = 0;
  #idleCharacters = 0;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  /** Whether the end marker arrived, or a whole answer that needs none. Anything after it is ignored. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Adds text. Returns whether it contains anything but comments and blank lines. */
  add(text: string): boolean {
    this.#isData = false;
    if (!this.#begun) this.#begin(text.trimStart());
    if (this.#isWhole) {
      this.#isData = /\S/.test(text);
      this.#extendLine(text);
    } else if (!this.#endsInReturn && !/[\r\n]/.test(text)) {
      // A long line arrives in many pieces: do not search the earlier ones again with each new piece.
      this.#extendLine(text);
    } else {
      this.#lines(this.#line + text);
    }
    const isData = this.#isData || this.#lineStart.startsWith("data:");
    this.#idleCharacters = isData ? 0 : this.#idleCharacters + text.length;
    if (this.#idleCharacters > MAX_IDLE_CHARACTERS) {
      throw tooLarge(`more than ${MAX_IDLE_CHARACTERS} characters that hold no data`);
    }
    return isData;
  }

  /** Handles the end of the stream, which completes an event. */
  finish(text: string): void {
    this.add(text);
    if (this.#isWhole) this.#data = this.#line;
    else this.#field(this.#line.replace(/\r$/, ""));
    this.#dispatch();
    this.#isEnded ||= this.#isWhole;
  }

  #begin(text: string): void {
    this.#begun = text !== "";
    this.#isWhole = /^[{<]/.test(text);
  }

  #extendLine(text: string): void {
    this.#line += text;
    if (this.#lineStart.length < LONGEST_START) this.#lineStart = this.#line.slice(0, LONGEST_START);
    checkEventSize(this.#line.length);
  }

  /** Reads the lines of a text and keeps the last one, which may be incomplete. */
  #lines(given: string): void {
    // A carriage return at the end may be the first half of "\r\n": keep it until more text arrives.
    const text = given.includes("\r") ? given.replace(/\r\n|\r(?!$)/g, "\n") : given;
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      if (end === start) this.#dispatch();
      else if (text.startsWith("data:", start)) this.#field(text.slice(start, end));
      start = end + 1;
    }
    this.#line = text.slice(start);
    this.#lineStart = this.#line.slice(0, LONGEST_START);
    this.#endsInReturn = this.#line.endsWith("\r");
  }

  #field(line: string): void {
    if (!line.startsWith("data:")) return;
    this.#isData ||= line.length > LONGEST_START;
    this.#dataSize += line.length + LINE_OVERHEAD;
    checkEventSize(this.#dataSize);
    const data = line.slice(line.startsWith("data: ") ? 6 : 5);
    this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
  }

  /** Passes on the complete event. The standard says to ignore an event without data. */
  #dispatch(): void {
    const data = this.#data ?? "";
    this.#data = undefined;
    this.#dataSize = 0;
    if (data === END_MARK) this.#isEnded = true;
    if (this.#isEnded || data === "") return;
    if (++this.#count > MAX_EVENTS) throw tooLarge(`more than ${MAX_EVENTS} events`);
    this.#onData(data);
  }
}

function checkEventSize(characters: number): void {
  if (characters > MAX_EVENT_CHARACTERS)
    throw tooLarge(`an event of more than ${MAX_EVENT_CHARACTERS} characters`);
}
