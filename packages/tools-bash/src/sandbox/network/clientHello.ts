/** The host that a TLS ClientHello is for. */
export interface ClientHello {
  /** In lower case. Absent if the client names none. */
  readonly serverName?: string;
  /** Whether it contains an encrypted inner ClientHello (ECH), whose name cannot be seen. */
  readonly isEncrypted: boolean;
}

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
/** The record layer allows 2^14 bytes of plain text. */
const LONGEST_RECORD = 1 << 14;
/** Clients use one; some split the ClientHello into a few. */
const MOST_RECORDS = 64;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** encrypted_client_hello, and the draft before it (ESNI). */
const ENCRYPTED = [0xfe0d, 0xffce];

/**
 * Parses a ClientHello from the start of a stream, however it is split into records. Returns `undefined` if more bytes
 * are needed. Throws if the stream does not begin with one, or if it is ambiguous. Takes time proportional to the
 * number of records, so it may be called for each chunk that arrives.
 */
export function readClientHello(stream: Uint8Array): ClientHello | undefined {
  const message = firstMessage(stream);
  return message && parseHello(new Reader(message));
}

/** The body of the first handshake message; `undefined` if it is not complete. */
function firstMessage(stream: Uint8Array): Uint8Array | undefined {
  const records: Uint8Array[] = [];
  let collected = 0;
  let size: number | undefined;
  for (let at = 0; at < stream.length; ) {
    const [type, major, , high, low] = stream.subarray(at, at + RECORD_HEADER);
    if (type !== HANDSHAKE_RECORD || (major !== undefined && major !== 3)) {
      throw new Error("it does not begin with a TLS handshake");
    }
    if (high === undefined || low === undefined) return undefined;
    const length = (high << 8) | low;
    if (length === 0 || length > LONGEST_RECORD) throw new Error("a TLS record has an impossible length");
    if (records.length === MOST_RECORDS) throw new Error("the ClientHello is in too many records");
    const record = stream.subarray(at + RECORD_HEADER, at + RECORD_HEADER + length);
    records.push(record);
    collected += record.length;
    at += RECORD_HEADER + length;
    if (collected < MESSAGE_HEADER) continue;
    size ??= messageSize(Buffer.concat(records));
    if (collected >= MESSAGE_HEADER + size) {
      return Buffer.concat(records).subarray(MESSAGE_HEADER, MESSAGE_HEADER + size);
    }
  }
  return undefined;
}

function messageSize(start: Buffer): number {
  if (start[0] !== CLIENT_HELLO) throw new Error("the first TLS message is not a ClientHello");
  return start.readUIntBE(1, 3);
}

function parseHello(hello: Reader): ClientHello {
  hello.take(2 + 32); // version and random
  hello.take(hello.number(1)); // session id
  hello.take(hello.number(2)); // cipher suites
  hello.take(hello.number(1)); // compression methods
  if (hello.isEmpty) return { isEncrypted: false };
  const extensions = new Reader(hello.take(hello.number(2)));
  if (!hello.isEmpty) throw new Error("bytes follow the extensions of the ClientHello");
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!extensions.isEmpty) {
    const type = extensions.number(2);
    const content = extensions.take(extensions.number(2));
    // If an extension occurs twice, a server may use the other one.
    if (seen.has(type)) throw new Error("the ClientHello has an extension twice");
    seen.add(type);
    if (type === SERVER_NAME) serverName = readServerName(new Reader(content));
  }
  return {
    ...(serverName !== undefined && { serverName }),
    isEncrypted: ENCRYPTED.some((type) => seen.has(type)),
  };
}

function readServerName(extension: Reader): string {
  const list = new Reader(extension.take(extension.number(2)));
  const type = list.number(1);
  const name = Buffer.from(list.take(list.number(2))).toString("latin1");
  if (!extension.isEmpty || !list.isEmpty || type !== HOST_NAME || !/^[\x21-\x7e]+$/.test(name)) {
    throw new Error("the ClientHello does not name exactly one server");
  }
  return name.toLowerCase();
}

/** Reads bytes from the front, and throws if there are too few. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error("the ClientHello is cut short");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(length: number): number {
    return this.take(length).reduce((value, byte) => value * 256 + byte, 0);
  }
}
