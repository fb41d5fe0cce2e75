import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answer, askProvider, MODES, type Reply } from "@agent/test-support";
import { describe, expect, onTestFinished, test } from "vitest";
import { KEY, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, lastRequest, failure } = await useOpenAIServer();

const redirect =
  (location: string, status = 307): Reply =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

/** Another server, and its number of connections, which must stay 0. */
async function otherServer(): Promise<{ address: string; connections: () => number }> {
  const other = createServer((_request, response) => response.end("{}"));
  let connections = 0;
  other.on("connection", () => connections++);
  await once(other.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void other.close());
  return { address: `127.0.0.1:${(other.address() as AddressInfo).port}`, connections: () => connections };
}

describe.each(MODES)("a redirect, %s", (mode) => {
  test.each([301, 302, 303, 307, 308])(
    "is not followed to another origin with status %i, and nothing is sent there",
    async (status) => {
      const other = await otherServer();
      for (const location of [`http://${other.address}/v1/chat/completions`, `//${other.address}/`]) {
        server.script(redirect(location, status));
        const error = await failure(askProvider(provider(), mode));
        expect(error.message).toContain(`redirects to another origin, "http://${other.address}/`);
        expect(error.message).toContain("must not get the conversation or the key");
        expect(error.requests).toBe(1);
      }
      expect(other.connections()).toBe(0);
    },
  );

  test("counts as one to another origin if the same host has another name, protocol or user", async () => {
    const { host, port } = new URL(server.baseURL);
    for (const location of [`https://${host}/`, `http://localhost:${port}/`, `http://[::1]:${port}/`]) {
      server.script(redirect(location));
      expect((await failure(askProvider(provider(), mode))).message).toContain("another origin");
    }
  });

  test("does not put the key into the message, however the address spells it", async () => {
    const { host } = new URL(server.baseURL);
    for (const spelled of [encodeURIComponent(KEY), Buffer.from(`user:${KEY}`).toString("base64url"), KEY]) {
      server.script(redirect(`http://evil.example/?from=${host}&k=${spelled}`));
      const { message } = await failure(askProvider(provider(), mode));
      expect(message).toContain("http://evil.example/");
      expect(message).toContain("[secret]");
      expect(message).not.toContain(spelled);
    }
  });

  test("is followed within the origin with the whole request", async () => {
    server.script(redirect("/v2/chat"), answer({ content: "here" }));
    expect((await askProvider(provider(), mode)).response.content).toBe("here");
    expect(lastRequest().url).toBe("/v2/chat");
    expect(lastRequest().headers.authorization).toBe(`Bearer ${KEY}`);
    expect(lastRequest().body.messages).toHaveLength(1);
  });
});
