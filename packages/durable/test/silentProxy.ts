import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy between a client and a server that can drop their data without closing a connection. */
export interface SilentProxy {
  /** The server's address, through the proxy. */
  readonly address: string;
  /** Simulates a lost machine or cable: nothing arrives any more, and no one is notified. New connections wait. */
  silence(): void;
  /** Lets new connections through again. */
  restore(): void;
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  const waiting = new Set<Socket>();
  let isSilent = false;
  const forward = (near: Socket): void => {
    const far = connect(Number(port), hostname);
    pairs.add([near, far]);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on("error", () => undefined);
  };
  const server = createServer((near) => {
    if (!isSilent) {
      forward(near);
      return;
    }
    waiting.add(near);
    near.on("error", () => undefined).once("close", () => waiting.delete(near));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of [...[...pairs].flat(), ...waiting]) socket.destroy();
  });
  const address = new URL(target);
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: address.href,
    silence() {
      isSilent = true;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        // Closes the server's side, as if the server had noticed by itself; the client keeps waiting.
        far.destroy();
      }
    },
    restore() {
      isSilent = false;
      for (const near of waiting) forward(near);
      waiting.clear();
    },
  };
}
