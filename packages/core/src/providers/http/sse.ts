import { concatBytes } from "@agent/internal";
import { AttemptError } from "./retry.js";

const END_MARK = "[DONE]";
const SPACE = 0x20;
// Far beyond any answer. In a stream each word comes with some hundred bytes around it.
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const MAX_EVENTS = 1_000_000;
// Comments, blanks and empty events in a row: servers send some to keep a connection alive.
const MAX_IDLE_CHARACTERS = 1024 * 1024;
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
// One event, or a whole answer that came instead of events. Each of its lines counts some characters more.
const MAX_EVENT_CHARACTERS = MAX_TEXT_BYTES;
const LINE_OVERHEAD = 16;
const LONGEST_START = "data: ".length;
// How long a connection may stay open after the end mark: time to become reusable, not time to wait for.
const END_GRACE_MS = 100;

/**
 * Reads server-sent events and hands on the data of each. Resolves to whether the end mark came; what follows
 * it is ignored. Understands every line ending, comments, and characters split between two reads. A body that
 * begins like a JSON object or a web page is one event with its end: the whole answer of a server that does
 * not stream.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onData: (data: string) => void,
  onBytes: (isData: boolean) => void,
): Promise<boolean> {
  const reader = body.getReader();
  const events = new EventParser();
  let count = 0;
  let idle = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const text of decodedText(reader, MAX_STREAM_BYTES)) {
      if (timer) continue;
      const found = events.add(text);
      const isData = events.takeIsData();
      onBytes(isData);
      idle = isData ? 0 : idle + text.length;
      if (idle > MAX_IDLE_CHARACTERS)
        throw tooLarge(`more than ${MAX_IDLE_CHARACTERS} characters that hold no data`);
      for (const data of found) {
        if (data === END_MARK) timer ??= setTimeout(() => cancel(reader), END_GRACE_MS);
        if (timer) break;
        if (++count > MAX_EVENTS) throw tooLarge(`more than ${MAX_EVENTS} events`);
        onData(data);
      }
    }
    const last = timer ? "" : events.finish();
    if (last !== "" && last !== END_MARK) onData(last);
    return timer !== undefined || last === END_MARK || events.isWhole;
  } catch (error) {
    // The answer was complete: how the connection ended no longer matters.
    if (timer) return true;
    cancel(reader);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a whole body as text. Unlike `Response.text`, it tells of every arrival. */
export async function readText(
  body: ReadableStream<Uint8Array>,
  onBytes: (isData: boolean) => void,
): Promise<string> {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Not through decodedText: its generator is a measurable part of a short answer's cost.
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    onBytes(value.some((byte) => byte > SPACE));
    size = checkedSize(reader, size + value.byteLength, MAX_TEXT_BYTES);
    pieces.push(value);
  }
  return new TextDecoder().decode(pieces.length === 1 ? pieces[0] : concatBytes(pieces));
}

async function* decodedText(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number) {
  const decoder = new TextDecoder();
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size = checkedSize(reader, size + value.byteLength, maxBytes);
    yield decoder.decode(value, { stream: true });
  }
  yield decoder.decode();
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

/** Cuts text into lines and lines into events. */
class EventParser {
  #line = "";
  #endsInReturn = false;
  // The lines of data of the event that is coming; `undefined` before the first one.
  #data: string | undefined;
  #dataSize = 0;
  #isData = false;
  // Kept apart: reading it off a long line copies the line each time.
  #lineStart = "";
  #begun = false;
  #isWhole = false;

  /** Whether the body is one piece and no stream. Told by its first character: labels are often wrong. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Whether anything but comments and blanks came since this was last asked. */
  takeIsData(): boolean {
    const isData = this.#isData || this.#lineStart.startsWith("data:");
    this.#isData = false;
    return isData;
  }

  /** Takes more text and returns the data of the events it completes. */
  add(text: string): string[] {
    const found: string[] = [];
    if (!this.#begun) this.#begin(text.trimStart());
    if (this.#isWhole) {
      this.#isData = /\S/.test(text);
      this.#extendLine(text);
      return found;
    }
    // A long line comes in many pieces: what is there already is not searched again with each.
    if (!this.#endsInReturn && !/[\r\n]/.test(text)) {
      this.#extendLine(text);
      return found;
    }
    const whole = this.#line + text;
    // A carriage return at the very end may be half of a line ending: it waits for what follows.
    const lines = whole.includes("\r") ? whole.split(/\r\n|\n|\r(?!$)/) : whole.split("\n");
    this.#line = lines.pop() ?? "";
    this.#lineStart = this.#line.slice(0, LONGEST_START);
    this.#endsInReturn = this.#line.endsWith("\r");
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else {
        const data = this.#take();
        // As the standard has it: an event without data is none.
        if (data !== "") found.push(data);
      }
    }
    return found;
  }

  /** The data of an event that the end of the stream completes, or "". */
  finish(): string {
    if (this.#isWhole) return this.#line;
    this.#field(this.#line.replace(/\r$/, ""));
    return this.#take();
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

  #field(line: string): void {
    if (!line.startsWith("data:")) return;
    this.#isData ||= line.length > LONGEST_START;
    this.#dataSize += line.length + LINE_OVERHEAD;
    checkEventSize(this.#dataSize);
    const data = line.slice(line.startsWith("data: ") ? 6 : 5);
    this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
  }

  #take(): string {
    const data = this.#data ?? "";
    this.#data = undefined;
    this.#dataSize = 0;
    return data;
  }
}

function checkEventSize(characters: number): void {
  if (characters > MAX_EVENT_CHARACTERS)
    throw tooLarge(`an event of more than ${MAX_EVENT_CHARACTERS} characters`);
}
