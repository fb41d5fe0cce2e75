import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { registerPack, ToolRegistry } from "@agent/core";
import { describePack, type SampleCall } from "@agent/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as pack from "./index.js";

const BIG = "é".repeat(400 * 1024);
const seen: string[] = [];

const answers: RequestListener = (request, response) => {
  seen.push(request.url ?? "");
  const page = (type: string, body: string | Buffer, status = 200) =>
    response.writeHead(status, { "content-type": type }).end(body);
  const redirect = (location: string) => response.writeHead(302, { location }).end();
  switch (request.url) {
    case "/hello":
      return page("text/plain; charset=utf-8", "hello wörld");
    case "/latin1":
      return page("text/plain; charset=iso-8859-1", Buffer.from([0x67, 0xfc]));
    case "/big":
      return page("text/plain", BIG);
    case "/image":
      return page("image/png", Buffer.from([0x89, 0x50]));
    case "/missing":
      return page("text/html", "<h1>Not here</h1>", 404);
    case "/moved":
      return redirect("/hello");
    case "/loop":
      return redirect("/loop");
    case "/escape":
      return redirect("http://169.254.169.254/latest/meta-data");
    case "/to-file":
      return redirect("file:///etc/passwd");
    case "/slow":
      return void response.writeHead(200, { "content-type": "text/plain" }).write("first");
    default:
      return page("text/plain", "?", 404);
  }
};

const server = createServer(answers);
let host = "";

beforeAll(async () => {
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function registryWith(options: pack.HttpOptions): ToolRegistry {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  registerPack(registry, pack, { context, options });
  registry.enable("http_fetch");
  return registry;
}
const fetchUrl = (url: string, options: pack.HttpOptions = { allow: [host] }) =>
  registryWith(options).run("http_fetch", { url });

describe("http_fetch", () => {
  test("fetches a text and reports where it came from", async () => {
    expect(await fetchUrl(`http://${host}/hello`)).toMatchObject({
      outcome: "ok",
      text: `HTTP 200 http://${host}/hello\n\nhello wörld`,
      summary: "HTTP 200",
    });
  });

  test("follows a redirect to an allowed host", async () => {
    expect((await fetchUrl(`http://${host}/moved`)).text).toContain("/hello\n\nhello wörld");
  });

  test("honours the charset", async () => {
    expect((await fetchUrl(`http://${host}/latin1`)).text).toMatch(/\n\ngü$/);
  });

  test("reports a status of 404 as a failure with the text of the page", async () => {
    expect(await fetchUrl(`http://${host}/missing`)).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("Not here"),
      summary: "HTTP 404",
    });
  });

  test("reads no more than the limit, cuts between characters and says so", async () => {
    const { text } = await fetchUrl(`http://${host}/big`, { allow: [host], maxBytes: 1001 });
    expect(text).toMatch(/é{500}\n\[… truncated: only the first 1001 bytes were read\.\]$/);
    expect(text).not.toContain("\ufffd");
  });

  test("gives up after the time limit", async () => {
    const { outcome, text } = await fetchUrl(`http://${host}/slow`, { allow: [host], timeoutMs: 200 });
    expect([outcome, text]).toEqual([
      "error",
      "Error executing http_fetch: No complete answer within 200 ms.",
    ]);
  });

  const refusals: [what: string, url: () => string, says: RegExp][] = [
    [
      "a host that is not on the list",
      () => "http://example.com/",
      /"http:\/\/example\.com", a host that is not allowed/,
    ],
    ["another port of an allowed host", () => "http://127.0.0.1:1/", /not allowed/],
    [
      "a redirect to another host",
      () => `http://${host}/escape`,
      /redirects to "http:\/\/169\.254\.169\.254", a host/,
    ],
    ["a redirect to a file", () => `http://${host}/to-file`, /must start with http/],
    ["redirects without end", () => `http://${host}/loop`, /redirects more than 5 times/],
    ["credentials", () => `http://me:secret@${host}/hello`, /must not hold a user name or password/],
    ["another protocol", () => "file:///etc/passwd", /must start with http/],
    ["no address", () => "hello", /must be a full address/],
    ["what is not text", () => `http://${host}/image`, /"image\/png", not text/],
  ];
  test.for(refusals)("refuses %s", async ([, url, says]) => {
    const before = seen.length;
    const { outcome, text } = await fetchUrl(url());
    expect(outcome).toBe("error");
    expect(text).toMatch(says);
    expect(seen.slice(before)).not.toContain("/hello");
  });

  test("names the reason when a server cannot be reached", async () => {
    expect((await fetchUrl("http://127.0.0.1:1/", { allow: ["127.0.0.1:1"] })).text).toMatch(
      /Cannot fetch from "127\.0\.0\.1:1": fetch failed: (bad port|.*ECONNREFUSED)/,
    );
  });

  test("is off, and allows nothing, by default", async () => {
    const registry = registryWith({});
    expect((await registry.run("http_fetch", { url: `http://${host}/hello` })).text).toContain("not allowed");
    registry.disable("http_fetch");
    expect(await registry.execute("http_fetch", { url: "http://x" })).toBe("Tool not available: http_fetch");
  });

  test("reports a mistake in the list when the pack registers", () => {
    expect(() => registryWith({ allow: ["https://example.com"] })).toThrow(
      '"https://example.com" is not a host',
    );
    expect(() => registryWith({ allow: ["*"] })).toThrow('"*" is not a host');
  });
});

describe("the conformance kit", () => {
  // The address is known only once the server listens, so the samples are getters.
  const samples = {
    get http_fetch(): SampleCall[] {
      return [{ url: `http://${host}/hello` }, { url: `http://${host}/big` }];
    },
  };
  const slowSamples = {
    get http_fetch(): SampleCall {
      return { url: `http://${host}/slow` };
    },
  };
  const options = {
    get allow(): string[] {
      return [host];
    },
  };
  describePack(new URL("../dist/index.js", import.meta.url), {
    describe,
    test,
    options,
    samples,
    slowSamples,
  });
});
