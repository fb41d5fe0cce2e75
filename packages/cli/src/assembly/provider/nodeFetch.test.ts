import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { nodeFetch } from "./nodeFetch.js";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("sends method, headers and body, and gives status, headers and body back", async () => {
  const address = await serve(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(418, { "content-type": "text/plain", "x-two": ["a", "b"] });
    response.end(
      `${request.method} ${request.headers["x-key"]} ${request.headers["content-length"]} ${body}`,
    );
  });
  const response = await nodeFetch(`${address}/a?b=c`, {
    method: "POST",
    headers: { "x-key": "k" },
    body: "ä",
  });
  expect([response.status, response.ok, response.headers.get("x-two")]).toEqual([418, false, "a, b"]);
  expect(await response.text()).toBe("POST k 2 ä");
});

test("follows no redirect", async () => {
  const address = await serve((_request, response) => response.writeHead(307, { location: "/else" }).end());
  const response = await nodeFetch(address, {});
  expect([response.status, response.headers.get("location")]).toEqual([307, "/else"]);
});

test("returns no body for a response without one", async () => {
  const address = await serve((_request, response) => response.writeHead(204).end());
  expect((await nodeFetch(address, {})).body).toBeNull();
});

test("decodes a response that is compressed without being asked for", async () => {
  const address = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("plain")),
  );
  expect(await (await nodeFetch(address, {})).text()).toBe("plain");
});

test("fails on a refused connection as fetch does, with the reason as its cause", async () => {
  const failure = await nodeFetch("http://127.0.0.1:1/", {}).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
});

test("reports an error for a body that is cut off", async () => {
  const address = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  });
  await expect((await nodeFetch(address, {})).text()).rejects.toThrow();
});

test("stops waiting for a response, or for the rest of one, on abort", async () => {
  const address = await serve((request, response) => {
    if (request.url === "/begun") response.write("a");
  });
  for (const path of ["/silent", "/begun"]) {
    const controller = new AbortController();
    const reading = nodeFetch(`${address}${path}`, { signal: controller.signal }).then((one) => one.text());
    setTimeout(() => controller.abort(), 50);
    await expect(reading).rejects.toThrow(/abort/i);
  }
});

test("silently replaces a kept connection that the server has closed", async () => {
  let requests = 0;
  const sockets: Socket[] = [];
  const address = await serve((_request, response) => {
    requests++;
    // The second request on the first connection finds it closed.
    if (requests === 2) sockets[0]?.resetAndDestroy();
    else response.end("ok");
  });
  servers.at(-1)?.on("connection", (socket) => sockets.push(socket));
  await (await nodeFetch(address, {})).text();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await (await nodeFetch(address, {})).text()).toBe("ok");
  expect([requests, sockets.length]).toEqual([3, 2]);
});
