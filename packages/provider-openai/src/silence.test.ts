import { createServer } from "node:net";
import { answer, askProvider, chunk, event, MODES, pieces, silence } from "@agent/test-support";
import { describe, expect, test, vi } from "vitest";
import { errorReply, useOpenAIServer } from "../test/openaiServer.js";

const { server, provider, failure } = await useOpenAIServer();

// Long enough for a request to arrive, even the first one of a process on a busy machine.
const SILENCE_MS = 1000;
const fine = answer({ content: "fine" });

describe.each(MODES)("silence and abort, %s", (mode) => {
  test("stops with a timeout, which is not repeated, if a server never answers", async () => {
    server.script(silence, fine);
    const error = await failure(askProvider(provider({ timeoutMs: SILENCE_MS }), mode));
    expect(error).toMatchObject({ code: "provider_failed", requests: 1 });
    expect(error.message).toBe(`m could not answer: the server was silent for ${SILENCE_MS} ms (timeoutMs)`);
    await server.requests.at(-1)?.closed;
  });

  test("stops with a timeout too if a server falls silent half-way", async () => {
    server.script(pieces([mode === "JSON" ? "{" : event(chunk({ content: "a" }))], { end: "open" }));
    const error = await failure(askProvider(provider({ timeoutMs: SILENCE_MS }), mode));
    expect(error.message).toContain(`silent for ${SILENCE_MS} ms`);
    await server.requests.at(-1)?.closed;
  });

  test.each(["an unknown length", "an announced length"])(
    "restarts the timeout on every received byte, also a blank or a comment, in a body of %s",
    async (length) => {
      const beats = Array.from({ length: 15 }, () => (mode === "JSON" ? "\n" : ": keep-alive\n\n"));
      const body = {
        choices: [{ message: { content: "late" }, delta: { content: "late" }, finish_reason: "stop" }],
      };
      const last = mode === "JSON" ? JSON.stringify(body) : event(body);
      server.script(async (_, response) => {
        if (length === "an announced length") {
          response.setHeader("content-length", Buffer.byteLength(beats.join("") + last));
        }
        response.writeHead(200, {
          "content-type": mode === "JSON" ? "application/json" : "text/event-stream",
        });
        for (const beat of beats) {
          response.write(beat);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        response.end(last);
      });
      expect((await askProvider(provider({ timeoutMs: 250 }), mode)).response.content).toBe("late");
    },
  );

  test("sends nothing after an abort before the request", async () => {
    const requests = server.requests.length;
    const error = await failure(askProvider(provider(), mode, { signal: AbortSignal.abort("enough") }));
    expect(error).toMatchObject({ code: "aborted", cause: "enough" });
    expect(server.requests.length).toBe(requests);
  });

  test("rejects and closes the connection on an abort while the server is silent", async () => {
    server.script(silence);
    const controller = new AbortController();
    const arrived = server.nextRequest();
    const asking = failure(askProvider(provider(), mode, { signal: controller.signal }));
    const request = await arrived;
    controller.abort();
    expect(await asking).toMatchObject({ code: "aborted" });
    await request.closed;
  });

  test("rejects and closes the connection on an abort in the middle of an answer", async () => {
    const controller = new AbortController();
    server.script((request, response) => {
      setTimeout(() => controller.abort(), 20);
      return pieces([mode === "JSON" ? '{"choices"' : event(chunk({ content: "a" }))], { end: "open" })(
        request,
        response,
      );
    });
    expect(await failure(askProvider(provider(), mode, { signal: controller.signal }))).toMatchObject({
      code: "aborted",
    });
    await server.requests.at(-1)?.closed;
  });

  test("rejects immediately on an abort while waiting for a repetition", async () => {
    server.script(errorReply(500, "oops"));
    const controller = new AbortController();
    const asking = provider({ retryDelayMs: 60_000 }).respond({
      messages: [],
      tools: [],
      signal: controller.signal,
      onRetry: () => setImmediate(() => controller.abort()),
      ...(mode === "streaming" && { onText: () => undefined }),
    });
    expect(await failure(asking)).toMatchObject({ code: "aborted", requests: 1 });
  });

  test("rejects immediately on an abort while connecting", async () => {
    // The server accepts connections but never reads: the request hangs without any response.
    const deaf = createServer((socket) => socket.pause());
    await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
    const controller = new AbortController();
    deaf.once("connection", () => controller.abort());
    const { port } = deaf.address() as { port: number };
    const asking = askProvider(provider({ baseURL: `http://127.0.0.1:${port}/v1` }), mode, {
      signal: controller.signal,
    });
    expect(await failure(asking)).toMatchObject({ code: "aborted" });
    await new Promise((resolve) => deaf.close(resolve));
  });

  test("removes listeners on the caller's signal afterwards", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    server.script(errorReply(500, "oops"), fine);
    await askProvider(provider({ retryDelayMs: 0 }), mode, { signal });
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
  });
});
