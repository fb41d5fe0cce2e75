import { getEventListeners, once } from "node:events";
import { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { dial, SYSTEM_NETWORK } from "./dial.js";

const MINUTE = 60_000;
const CLOSED_PORT = 1;
let server: Server;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

/** An outside where the addresses in `silent` never answer, and those that begin with 192 refuse. */
function outsideWith(silent: readonly string[] = []) {
  const tried: string[] = [];
  const connect = vi.fn((address: string, to: number) => {
    tried.push(address);
    const socket = silent.includes(address)
      ? new Socket()
      : SYSTEM_NETWORK.connect("127.0.0.1", address.startsWith("192") ? CLOSED_PORT : to);
    sockets.push(socket);
    return socket;
  });
  return { tried, outside: { resolve: SYSTEM_NETWORK.resolve, connect } };
}

describe("dial", () => {
  test("connects to the first address that answers, and leaves no listener", async () => {
    const { outside, tried } = outsideWith();
    const { signal } = new AbortController();
    const socket = await dial(["192.0.2.9", "127.0.0.1", "192.0.2.8"], port, {
      outside,
      timeoutMs: MINUTE,
      signal,
    });
    expect(socket.remoteAddress).toBe("127.0.0.1");
    expect(tried).toEqual(["192.0.2.9", "127.0.0.1"]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(socket.listenerCount("error")).toBe(0);
  });

  test("rejects with the last failure if no address answers, or if there is none", async () => {
    const { outside } = outsideWith();
    const options = { outside, timeoutMs: MINUTE, signal: new AbortController().signal };
    await expect(dial(["192.0.2.8", "192.0.2.9"], port, options)).rejects.toThrow("ECONNREFUSED");
    await expect(dial([], port, options)).rejects.toThrow("there is no address to connect to");
  });

  test("tries the next address when one does not answer in time", async () => {
    const { outside } = outsideWith(["192.0.2.9"]);
    const options = { outside, timeoutMs: 20, signal: new AbortController().signal };
    await expect(dial(["192.0.2.9"], port, options)).rejects.toThrow("no answer in time");
    const later = { ...options, timeoutMs: MINUTE };
    const [first] = [vi.spyOn(globalThis, "setTimeout")];
    first.mockImplementationOnce(((work: () => void) => setImmediate(work)) as never);
    const socket = await dial(["192.0.2.9", "127.0.0.1"], port, later);
    first.mockRestore();
    expect(socket.remoteAddress).toBe("127.0.0.1");
  });

  test("connects to nothing after an abort, and stops waiting on one", async () => {
    const { outside, tried } = outsideWith(["192.0.2.9"]);
    const options = { outside, timeoutMs: MINUTE, signal: AbortSignal.abort() };
    await expect(dial(["127.0.0.1"], port, options)).rejects.toThrow();
    expect(tried).toEqual([]);
    const controller = new AbortController();
    const waiting = dial(["192.0.2.9", "127.0.0.1"], port, { ...options, signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow("no answer in time");
    expect(tried).toEqual(["192.0.2.9"]);
  });
});

describe("the network of the system", () => {
  test("resolves a name to all of its addresses", async () => {
    const addresses = await SYSTEM_NETWORK.resolve("localhost");
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(["127.0.0.1", "::1"]).toContain(address);
  });

  test("can write to a peer that sends nothing more", async () => {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const socket = SYSTEM_NETWORK.connect("127.0.0.1", port);
    sockets.push(socket);
    const [peer] = await accepted;
    peer.end();
    socket.resume();
    await once(socket, "end");
    await new Promise(setImmediate);
    socket.end("still here");
    const [chunk] = (await once(peer, "data")) as [Buffer];
    expect(chunk.toString()).toBe("still here");
  });
});
