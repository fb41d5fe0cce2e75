import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server on the loopback interface, which is closed after the test. */
export interface TestServer {
  /** Such as `http://127.0.0.1:1234`. */
  readonly origin: string;
  readonly port: string;
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const port = String((server.address() as AddressInfo).port);
  return { origin: `http://127.0.0.1:${port}`, port };
}

/** The base URL of a model server that refuses every request, like one with a wrong key. */
export async function refusingServer(): Promise<string> {
  const { origin } = await serve((_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "bad key" } }));
  });
  return `${origin}/v1`;
}
