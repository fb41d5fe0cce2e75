import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parseHostPattern } from "@agent/core/sandbox";
import { expect, onTestFinished, test, vi } from "vitest";
import { HostAccess } from "./hostAccess.js";
import { HostProxy, type ProxyLimits } from "./proxy.js";

const LIMITS: ProxyLimits = {
  connections: 8,
  headerBytes: 4096,
  requestMs: 60_000,
  idleMs: 60_000,
  connectMs: 60_000,
};

/** A proxy on a port of this machine, in front of a server that receives and says nothing. */
async function startProxy(limits: Partial<ProxyLimits>) {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    socket.resume();
    socket.on("error", () => undefined);
  });
  const listener = createServer({ allowHalfOpen: true });
  for (const server of [silent, listener]) {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
  }
  const { port } = silent.address() as AddressInfo;
  const outside = {
    resolve: async () => ["93.184.215.14"],
    connect: () => connect({ host: "127.0.0.1", port, allowHalfOpen: true }),
  };
  const patterns = [parseHostPattern("allowed.example"), parseHostPattern("allowed.example:22")];
  const access = new HostAccess({ patterns, command: "test", outside });
  const proxy = new HostProxy(access, outside, { ...LIMITS, ...limits });
  proxy.serve(listener);
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const open = (first = ""): Promise<{ socket: Socket; text: () => string; closed: Promise<void> }> =>
    new Promise((resolve) => {
      let text = "";
      const socket = connect((listener.address() as AddressInfo).port, "127.0.0.1");
      const closed = new Promise<void>((done) => socket.once("close", () => done()));
      socket.on("error", () => undefined);
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
      });
      socket.once("connect", () => {
        if (first !== "") socket.write(first, "latin1");
        resolve({ socket, text: () => text, closed });
      });
    });
  return { proxy, listener, access, open, sockets };
}

test("closes a client that sends its request too slowly", async () => {
  const { open } = await startProxy({ requestMs: 200 });
  const { socket, closed } = await open("GET http://allowed.example/ HTTP/1.1\r\n");
  const drip = setInterval(() => socket.write("X: y\r\n"), 20);
  await closed;
  clearInterval(drip);
});

test("closes a client that says nothing, one that stops in its TLS handshake, and one that stops in SOCKS", async () => {
  const { open, sockets } = await startProxy({ requestMs: 200 });
  await (await open()).closed;
  await (await open("\x05")).closed;
  const { closed } = await open("CONNECT allowed.example:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01");
  await closed;
  expect(sockets.size).toBe(1);
});

test("closes both sides of a tunnel that is silent for too long", async () => {
  const { open, sockets } = await startProxy({ idleMs: 200 });
  const { closed } = await open("CONNECT allowed.example:22 HTTP/1.1\r\nHost: x\r\n\r\nhello");
  await closed;
  await expect
    .poll(() => [...sockets].every((socket) => socket.destroyed || socket.readableEnded))
    .toBe(true);
});

test("answers a header that is too long with an error", async () => {
  const { open } = await startProxy({});
  const { text, closed } = await open(`GET http://allowed.example/ HTTP/1.1\r\nX: ${"x".repeat(5000)}`);
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 431 /);
});

test("refuses connections beyond the limit, and accepts new ones when others have ended", async () => {
  const { open } = await startProxy({ connections: 2 });
  const held = [await open(), await open()];
  await (await open()).closed;
  held[0]?.socket.destroy();
  await held[0]?.closed;
  await expect
    .poll(async () => {
      const { text, socket, closed } = await open("CONNECT allowed.example:22 HTTP/1.1\r\nHost: x\r\n\r\n");
      await Promise.race([closed, new Promise((done) => socket.once("data", done))]);
      return text();
    })
    .toMatch(/^HTTP\/1\.1 200 /);
});

test("refuses commands of SOCKS other than connecting, and authentication", async () => {
  const { open } = await startProxy({});
  const bind = await open("\x05\x01\x00\x05\x02\x00\x01\x08\x08\x08\x08\x01\xbb");
  await bind.closed;
  expect(bind.text()).toBe("\x05\x00\x05\x07\x00\x01\x00\x00\x00\x00\x00\x00");
  const password = await open("\x05\x01\x02");
  await password.closed;
  expect(password.text()).toBe("\x05\xff");
});

test("refuses a TLS connection on a named port that is for another host", async () => {
  const { open, access } = await startProxy({});
  const start = Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]).toString("latin1");
  const { closed } = await open(`CONNECT allowed.example:22 HTTP/1.1\r\nHost: x\r\n\r\n${start}`);
  await closed;
  expect(access.refusals.get("allowed.example:22")).toMatch(/cannot be checked/);
});

test("closes its listener when it is closed, also one that arrives later", async () => {
  const { proxy, listener } = await startProxy({});
  const late = createServer();
  await new Promise<void>((done) => late.listen(0, "127.0.0.1", done));
  onTestFinished(() => void late.close());
  proxy.close();
  expect(listener.listening).toBe(false);
  proxy.serve(late);
  expect(late.listening).toBe(false);
});

test("leaves no timer behind that would keep the process running", async () => {
  const { proxy, listener, open } = await startProxy({});
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const accepted = once(listener, "connection");
  await open();
  await accepted;
  expect(vi.getTimerCount()).toBe(1);
  proxy.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("ends everything when it is closed, also what arrives later", async () => {
  const { open, proxy, sockets } = await startProxy({});
  const { closed, text } = await open("CONNECT allowed.example:22 HTTP/1.1\r\nHost: x\r\n\r\nhello");
  await expect.poll(() => text()).toMatch(/200/);
  proxy.close();
  await closed;
  await expect
    .poll(() => [...sockets].every((socket) => socket.destroyed || socket.readableEnded))
    .toBe(true);
});
