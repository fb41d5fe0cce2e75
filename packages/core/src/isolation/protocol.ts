/**
 * The channel between the host and a pack process: JSON frames, each with optional raw bytes for long texts and images.
 * The connection identifies the pack: no message contains its name.
 */

/** The file descriptor of the channel in the process of a pack. */
export const CHANNEL_DESCRIPTOR = 3;

const HEADER_BYTES = 8;

/** The limits of a frame that one side accepts. */
export interface FrameLimits {
  /** Nested JSON is slow to parse: 4 MB of brackets block a program for a second. */
  readonly jsonBytes: number;
  readonly rawBytes: number;
}

/** Limits for frames from a pack: a value of 64 KB plus overhead, a result of 8 MB. */
export const FROM_PACK: FrameLimits = { jsonBytes: 128 * 1024, rawBytes: 8 * 1024 * 1024 };

/** A manifest is longer than other values: a pack may have many tools. It is sent as raw bytes then. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Results and other texts longer than this are sent as raw bytes. */
export const MAX_INLINE_CHARACTERS = 16 * 1024;

/** A message in either direction. */
export interface Message {
  /** A request of the host, and the answer to it. */
  readonly id?: number;
  /** A request of the pack, and the answer to it. */
  readonly ask?: number;
  /** The method. Absent in an answer. */
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: WireError;
}

interface WireError {
  readonly message: string;
  readonly code?: string;
}

export interface Frame {
  readonly message: Message;
  readonly raw?: Buffer;
}

/** The value of an answer that may be a long manifest. */
export function manifestOf({ message, raw }: Frame): unknown {
  if (raw === undefined) return message.result;
  if (raw.byteLength > MAX_MANIFEST_BYTES) throw new Error(`its manifest has ${raw.byteLength} bytes`);
  return JSON.parse(raw.toString());
}

export function encodeFrame(message: Message, raw?: Uint8Array): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(json.byteLength, 0);
  header.writeUInt32LE(raw?.byteLength ?? 0, 4);
  return Buffer.concat(raw === undefined ? [header, json] : [header, json, raw]);
}

/**
 * Splits incoming bytes into frames. Throws for a frame that is too long or malformed: nothing after it can be read.
 */
export class FrameReader {
  readonly #limits: FrameLimits;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #jsonBytes = 0;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** The number of JSON bytes read so far. */
  get jsonBytes(): number {
    return this.#jsonBytes;
  }

  *read(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (;;) {
      if (this.#bytes < HEADER_BYTES) return;
      const header = this.#peek(HEADER_BYTES);
      const jsonBytes = header.readUInt32LE(0);
      const rawBytes = header.readUInt32LE(4);
      const { jsonBytes: maxJson, rawBytes: maxRaw } = this.#limits;
      if (jsonBytes > maxJson || rawBytes > maxRaw) {
        throw new Error(`it sent a message of ${jsonBytes + rawBytes} bytes`);
      }
      const whole = HEADER_BYTES + jsonBytes + rawBytes;
      if (this.#bytes < whole) return;
      const bytes = this.#take(whole);
      this.#jsonBytes += jsonBytes;
      const message = parse(bytes.toString("utf8", HEADER_BYTES, HEADER_BYTES + jsonBytes));
      yield rawBytes === 0 ? { message } : { message, raw: bytes.subarray(HEADER_BYTES + jsonBytes) };
    }
  }

  #peek(bytes: number): Buffer {
    const [first] = this.#chunks;
    if (first === undefined || first.byteLength < bytes) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #take(bytes: number): Buffer {
    const joined = this.#peek(bytes);
    this.#bytes -= bytes;
    const rest = joined.subarray(bytes);
    this.#chunks = [...(rest.byteLength === 0 ? [] : [rest]), ...this.#chunks.slice(1)];
    return joined.subarray(0, bytes);
  }
}

function parse(text: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("it sent a message that is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("it sent a message that is not an object");
  }
  return value as Message;
}
