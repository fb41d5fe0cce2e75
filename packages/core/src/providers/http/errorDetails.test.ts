import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../agent.js";
import { type AgentError, isAgentError } from "../../errors.js";
import type { ChatProvider } from "../interface.js";
import { HttpEndpoint } from "./endpoint.js";

/** A provider on a real server that answers each request with `answer`. */
async function providerOf(
  answer: (response: ServerResponse) => void,
  options: { timeoutMs?: number; maxRetries?: number; maxDelayMs?: number } = {},
): Promise<ChatProvider> {
  const { timeoutMs = 10_000, maxRetries = 0, maxDelayMs = 1000 } = options;
  const server = createServer((request, response) => request.resume().on("end", () => answer(response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const endpoint = new HttpEndpoint({
    model: "m1",
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: {},
    timeoutMs,
    retries: { maxRetries, baseDelayMs: 1, maxDelayMs },
    secrets: [],
    hints: {},
  });
  return {
    id: "acme",
    model: "m1",
    respond: (request) =>
      endpoint.attempts(request, async (idle) => {
        await (await endpoint.open("/chat", "{}", idle)).text();
        throw new Error("unreachable");
      }),
  };
}

async function failureOf(provider: ChatProvider): Promise<AgentError> {
  const error = await new Agent(provider).chat("hi").catch((thrown: unknown) => thrown);
  if (!isAgentError(error)) throw error;
  return error;
}

test("reports status, wait, request id and provider of a failed request", async () => {
  const provider = await providerOf((response) =>
    response.writeHead(429, { "retry-after": "7", "x-request-id": "req_1" }).end('{"error":"slow down"}'),
  );
  expect(await failureOf(provider)).toMatchObject({
    code: "provider_failed",
    status: 429,
    retryAfterMs: 7000,
    retryable: true,
    requestId: "req_1",
    provider: "acme",
  });
});

test.each([
  [401, "{}", false],
  [429, '{"error":{"code":"insufficient_quota","message":"no credit"}}', false],
  [500, "{}", true],
  [503, "", true],
])("reports whether status %i with %j may pass: %s", async (status, body, retryable) => {
  const provider = await providerOf((response) => response.writeHead(status).end(body));
  expect(await failureOf(provider)).toMatchObject({ status, retryable });
});

test("leaves out a request id that is not an id", async () => {
  const provider = await providerOf((response) =>
    response.writeHead(503, { "x-request-id": `a b ${"x".repeat(300)}` }).end(),
  );
  expect(await failureOf(provider)).not.toHaveProperty("requestId");
});

test("keeps the wait that the server asked for when it is longer than the longest retry delay", async () => {
  const answer = (response: ServerResponse): void =>
    void response.writeHead(503, { "retry-after": "60" }).end();
  const error = await failureOf(await providerOf(answer, { maxRetries: 3 }));
  expect(error.message).toContain("the server asks to wait 60 s");
  expect(error).toMatchObject({ status: 503, retryAfterMs: 60_000, retryable: true });
});

test("reports that a connection that was cut, and a server that stays silent, may pass", async () => {
  const cut = await providerOf((response) => response.destroy());
  expect(await failureOf(cut)).toMatchObject({ code: "provider_failed", retryable: true });
  expect(await failureOf(cut)).not.toHaveProperty("status");
  const silent = await providerOf(() => undefined, { timeoutMs: 20 });
  expect(await failureOf(silent)).toMatchObject({ code: "provider_failed", retryable: true });
});

test("reports a connection that was lost inside the answer as lost", async () => {
  const provider = await providerOf((response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half", () => response.destroy());
  });
  const error = await failureOf(provider);
  expect(error.message).toContain("the connection was lost before the answer was complete");
  expect(error).toMatchObject({ code: "provider_failed", retryable: true });
});
