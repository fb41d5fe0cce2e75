import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { type McpHttpBehaviour, McpHttpServer } from "@agent/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConnectionHost } from "../src/connection/connectionHost.js";
import { loginServer } from "../src/manage/inspect.js";
import { assertLoginAddress } from "../src/oauth/issuerFetch.js";
import { temporaryDirectory } from "./harness.js";

async function login(
  behaviour: McpHttpBehaviour,
  openBrowser: (url: URL) => void | Promise<void>,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const fixture = await McpHttpServer.start({ oauth: true, ...behaviour });
  onTestFinished(() => fixture.close());
  const host = createConnectionHost({ loginFile: "logins.json" }, temporaryDirectory(), undefined);
  const signal = AbortSignal.timeout(60_000);
  return await loginServer("docs", { url: fixture.url, headers }, host, { openBrowser, signal });
}

/** The browser of a user who agrees. */
async function agree(address: URL): Promise<void> {
  const page = await fetch(address, { redirect: "manual" });
  await fetch(page.headers.get("location") ?? "");
}

test("sends a header that is meant for the server to no issuer that the server names", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const issuer = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(issuer, "listening");
  onTestFinished(() => void issuer.close());
  const { port } = issuer.address() as AddressInfo;
  const failed = login({ issuer: `http://127.0.0.1:${port}` }, agree, { "x-key": "of-the-server" });
  await expect(failed).rejects.toThrow();
  expect(seen.length).toBeGreaterThan(0);
  expect(JSON.stringify(seen)).not.toContain("of-the-server");
});

/** A server that notes the requests it gets, and where it is. */
async function listener(
  answer: (response: ServerResponse) => void,
): Promise<{ origin: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test("does not follow an issuer that redirects to an address which no honest server names", async () => {
  const { origin, seen } = await listener((response) =>
    response.writeHead(302, { location: "http://login.example/" }).end(),
  );
  await expect(login({ issuer: origin }, agree)).rejects.toThrow(
    'it wants a login at "http://login.example", and that is not encrypted',
  );
  expect(seen.length).toBeGreaterThan(0);
});

test("never redirects a code and its proof", async () => {
  const { origin, seen } = await listener((response) => response.writeHead(200).end("{}"));
  await expect(login({ tokenRedirect: `${origin}/token` }, agree)).rejects.toThrow("is redirected");
  expect(seen).toEqual([]);
});

describe("an address that no honest server names for a login", () => {
  test.each(["file:///etc/passwd", "vscode://extension/install", "ms-msdt:/id", "javascript:alert(1)"])(
    "is neither shown nor opened: %s",
    async (authorizationEndpoint) => {
      const opened: URL[] = [];
      await expect(login({ authorizationEndpoint }, (url) => void opened.push(url))).rejects.toThrow();
      expect(opened).toEqual([]);
    },
  );

  test.each([
    ["https://169.254.169.254/latest/meta-data", "inside your own network"],
    ["https://0x7f.1/", "inside your own network"],
    ["https://[::1]/", "inside your own network"],
    ["https://[::ffff:10.0.0.1]/", "inside your own network"],
    ["https://localhost:8080/", "inside your own network"],
    ["https://localhost./", "inside your own network"],
    ["http://login.example/", "not encrypted"],
    ["http://127.0.0.1:3000/", "not encrypted"],
    ["file:///etc/passwd", "not an http or https address"],
  ])("is refused: %s of a server elsewhere", (address, why) => {
    expect(() => assertLoginAddress(address, "https://mcp.example/mcp")).toThrow(why);
  });

  test.each([
    ["https://login.example/", "https://mcp.example/mcp"],
    ["https://login.example/", "http://127.0.0.1:3000/mcp"],
    ["http://localhost:4000/", "http://127.0.0.1:3000/mcp"],
    ["http://mcp.lan:4000/", "http://mcp.lan/mcp"],
    ["https://10.0.0.7/", "https://10.0.0.8/mcp"],
  ])("does not include %s for %s", (address, server) => {
    expect(() => assertLoginAddress(address, server)).not.toThrow();
  });
});

test("does not end a login on a request that is not an address, which every user on the machine can send", async () => {
  const answers: string[] = [];
  await login({}, async (address) => {
    const { port } = new URL(address.searchParams.get("redirect_uri") ?? "");
    for (const target of ["//", "//[", "http://[", "*"]) {
      const socket = connect(Number(port), "127.0.0.1");
      await once(socket, "connect");
      socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      answers.push((await text(socket)).slice(0, 12));
    }
    await agree(address);
  });
  expect(answers).toEqual(Array(4).fill("HTTP/1.1 404"));
});
