import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import type { ProviderRetry } from "@agent/core";
import { askProvider, MODES, type Mode } from "@agent/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import { SELF_SIGNED } from "../test/certificate.js";
import { OpenAIProvider } from "./provider.js";

/** Starts a server for one test and returns its address. */
async function listening(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const web = (listener: RequestListener) => listening(createHttpServer(listener));

/** The error of a request to this address, and its retries. */
async function failureAt(
  baseURL: string,
  mode: Mode,
): Promise<{ message: string; retries: ProviderRetry[] }> {
  const retries: ProviderRetry[] = [];
  const provider = new OpenAIProvider({ model: "m", apiKey: "k", baseURL, retryDelayMs: 1 });
  const respond = provider.respond.bind(provider);
  const asking = askProvider(
    { respond: (request) => respond({ ...request, onRetry: (retry) => retries.push(retry) }) },
    mode,
  );
  const { message } = await asking.then(
    () => expect.unreachable("it answered"),
    (error: Error) => error,
  );
  return { message, retries };
}

describe.each(MODES)("fails immediately, with what to do, %s", (mode) => {
  const failsAtOnce = async (baseURL: string, cause: RegExp, hint: string): Promise<void> => {
    const { message, retries } = await failureAt(baseURL, mode);
    expect(message).toMatch(cause);
    expect(message).toContain(hint);
    expect(retries).toEqual([]);
  };

  test("on a port that HTTP clients refuse", () =>
    failsAtOnce("http://127.0.0.1:6000/v1", /bad port/, "listen on another one"));

  test("on a server that redirects in a circle", async () => {
    const address = await web((_, response) => response.writeHead(307, { location: "/again" }).end());
    await failsAtOnce(`http://${address}/v1`, /redirects more than 5 times/, "Check baseURL.");
  });

  test("on a redirect to an invalid address", async () => {
    const address = await web((_, response) => response.writeHead(307, { location: "http://[" }).end());
    await failsAtOnce(`http://${address}/v1`, /redirects to an invalid address/, "Check baseURL.");
  });

  test("on a redirect to another protocol", async () => {
    const address = await web((_, response) => response.writeHead(307, { location: "ftp://a/" }).end());
    await failsAtOnce(`http://${address}/v1`, /redirects to another origin, "ftp:/, "set baseURL to it");
  });

  test("on HTTPS where the server speaks HTTP", async () => {
    const address = await web((_, response) => response.end());
    await failsAtOnce(`https://${address}/v1`, /wrong version number/, "Let baseURL begin with http://.");
  });

  test("on a server that does not speak HTTP at all", async () => {
    const address = await listening(createTcpServer((socket) => socket.end("SSH-2.0-Server\r\n")));
    await failsAtOnce(`http://${address}/v1`, /does not match the HTTP/, "not an HTTP server");
  });

  test("on a certificate that is not trusted", async () => {
    const address = await listening(createHttpsServer(SELF_SIGNED, (_, response) => response.end()));
    await failsAtOnce(`https://${address}/v1`, /self-signed certificate/, "NODE_EXTRA_CA_CERTS");
  });

  test.each(["text/html; charset=utf-8", "application/json"])(
    "on a web page with status 200 that calls itself %s",
    async (type) => {
      const address = await web((_, response) =>
        response.writeHead(200, { "content-type": type }).end("<!doctype html>\n<title>Hi</title>"),
      );
      await failsAtOnce(
        `http://${address}/`,
        /the answer is a web page, not JSON/,
        "often has to end in /v1",
      );
    },
  );
});

test.each(MODES)("repeats a request to an unknown host once, %s", async (mode) => {
  const { message, retries } = await failureAt("http://no-such-host.invalid/v1", mode);
  // Without a reachable DNS resolver the error is EAI_AGAIN, a temporary failure with more retries.
  if (message.includes("EAI_AGAIN")) return;
  expect(message).toMatch(
    /ENOTFOUND no-such-host\.invalid \(there is no host of that name\)\. Check the host in baseURL, and the network\./,
  );
  expect(retries).toHaveLength(1);
});

test("reads an event stream labelled text/html", async () => {
  const address = await web((_, response) => {
    const chunk = { choices: [{ delta: { content: "fine" }, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  const provider = new OpenAIProvider({ model: "m", apiKey: "k", baseURL: `http://${address}/v1` });
  expect((await askProvider(provider, "streaming")).text).toBe("fine");
});
