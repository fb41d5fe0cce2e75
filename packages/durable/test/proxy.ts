import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Starts a proxy, and resolves to the server's address through it. `serve` gets each client, and a function that
 * connects to the server.
 */
export async function startProxy(
  target: string,
  serve: (near: Socket, dial: () => Socket) => void,
): Promise<string> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => serve(keep(near), () => keep(connect(Number(port), hostname))));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = new URL(target);
  address.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return address.href;
}
