import { type AddressInfo, createServer } from "node:net";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { readClientHello } from "./clientHello.js";

/** The bytes that a real client sends first. */
async function realHello(servername: string): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.once("data", (chunk) => {
        socket.destroy();
        server.close();
        resolve(chunk);
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      connect({ port, host: "127.0.0.1", servername }).on("error", () => undefined);
    });
    server.on("error", reject);
  });
}

/** The same handshake message in records of `size` bytes. */
function inRecords(stream: Buffer, size: number): Buffer {
  const message = stream.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

/** A ClientHello with these extensions and nothing else of interest. */
function hello(...extensions: readonly (readonly [number, Buffer])[]): Buffer {
  const lengthOf = (bytes: Buffer, size: number): Buffer => {
    const length = Buffer.alloc(size);
    length.writeUIntBE(bytes.length, 0, size);
    return Buffer.concat([length, bytes]);
  };
  const all = extensions.map(([type, content]) =>
    Buffer.concat([Buffer.from([type >> 8, type & 0xff]), lengthOf(content, 2)]),
  );
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    Buffer.from([0, 0, 2, 0x13, 1, 1, 0]),
    lengthOf(Buffer.concat(all), 2),
  ]);
  return Buffer.concat([
    Buffer.from([22, 3, 1]),
    lengthOf(Buffer.concat([Buffer.from([1]), lengthOf(body, 3)]), 2),
  ]);
}

function serverName(...names: readonly string[]): readonly [number, Buffer] {
  const list = Buffer.concat(
    names.map((name) => Buffer.from(`\0${String.fromCharCode(0, name.length)}${name}`, "latin1")),
  );
  return [0, Buffer.concat([Buffer.from([list.length >> 8, list.length & 0xff]), list])];
}

describe("a ClientHello", () => {
  test("is read from a real client, whole and byte by byte", async () => {
    const stream = await realHello("Allowed.Example");
    expect(readClientHello(stream)).toEqual({ serverName: "allowed.example", isEncrypted: false });
    for (let length = 0; length < stream.length; length++) {
      expect(readClientHello(stream.subarray(0, length))).toBeUndefined();
    }
  });

  test("is read from any number of records up to a limit", async () => {
    const stream = await realHello("allowed.example");
    for (const size of [stream.length, 100, 20]) {
      const split = inRecords(stream, size);
      expect(readClientHello(split)).toMatchObject({ serverName: "allowed.example" });
      expect(readClientHello(split.subarray(0, -1))).toBeUndefined();
    }
    expect(() => readClientHello(inRecords(stream, 1))).toThrow(/too many records/);
  });

  test("has no name if it contains none, and one that hides its name reports that", () => {
    expect(readClientHello(hello())).toEqual({ isEncrypted: false });
    expect(readClientHello(hello(serverName("front.example"), [0xfe0d, Buffer.alloc(8)]))).toEqual({
      serverName: "front.example",
      isEncrypted: true,
    });
  });

  const changed = (at: number, byte: number): Buffer => {
    const stream = hello(serverName("a.example"));
    stream[at] = byte;
    return stream;
  };
  test.each([
    ["two names", hello(serverName("a.example", "b.example")), "does not name exactly one server"],
    ["the extension twice", hello(serverName("a.example"), serverName("b.example")), "an extension twice"],
    ["an empty name", hello(serverName("")), "does not name exactly one server"],
    ["a NUL in the name", hello(serverName("a.example\0.b.example")), "does not name exactly one server"],
    ["a name of another kind", changed(5 + 4 + 34 + 7 + 2 + 4 + 2, 1), "does not name exactly one server"],
    ["an extension that is cut short", hello([0, Buffer.from([0, 9, 0])]), "is cut short"],
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "does not begin with a TLS handshake"],
    ["SSL 2", Buffer.from([0x80, 0x2e, 1, 3, 1]), "does not begin with a TLS handshake"],
    ["an alert", changed(0, 21), "does not begin with a TLS handshake"],
    ["another version", changed(1, 2), "does not begin with a TLS handshake"],
    ["another handshake message", changed(5, 2), "is not a ClientHello"],
    ["an empty record", Buffer.from([22, 3, 1, 0, 0]), "an impossible length"],
    ["a record that is too long", Buffer.from([22, 3, 1, 0x40, 1]), "an impossible length"],
  ])("is refused with %s", (_name, stream, problem) => {
    expect(() => readClientHello(stream)).toThrow(problem);
  });

  test("may be in a record of the greatest length", () => {
    expect(readClientHello(Buffer.from([22, 3, 1, 0x40, 0]))).toBeUndefined();
    // The length is not complete.
    expect(readClientHello(Buffer.from([22, 3, 1, 0]))).toBeUndefined();
  });

  test("is read, incomplete or refused with any byte changed, and never names what it does not contain", async () => {
    const stream = await realHello("allowed.example");
    for (let at = 0; at < stream.length; at++) {
      const changed = Buffer.from(stream);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      let name: string | undefined;
      try {
        name = readClientHello(changed)?.serverName;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      if (name !== undefined) expect(changed.toString("latin1").toLowerCase()).toContain(name);
    }
  });
});
